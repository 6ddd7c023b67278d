// Proves that packed runs read by their bytes are what a JSON parser makes of them, whatever they hold, and that every
// other line, damaged ones among them, is left to the parser.
import { type PackedRun, packedRunJson } from '@session-persistence/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePackedRunLine } from '../src/packed-run-line.ts'

const integers = fc.oneof(fc.nat(), fc.nat(9), fc.nat(999_999_999_999_999))
const texts = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', '"', '\\', '\n', '\u0000', '\u2028', 'ä', '你好', '😀', '\ud800', ']', '],"v":["', '},"dt":['),
)
const blocks = fc.oneof(
  fc.record({ turn: integers, step: integers, kind: fc.constantFrom('text', 'reasoning'), index: integers }),
  fc.record({
    turn: integers,
    step: integers,
    kind: fc.constant('tool-arguments'),
    index: integers,
    callId: texts,
    name: texts,
  }),
)
const runs = fc
  .record({
    seq: integers,
    time: integers,
    run: blocks,
    v: fc.array(texts, { minLength: 1, maxLength: 20 }),
    gaps: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: -60_000, max: 60_000 })), {
      minLength: 19,
      maxLength: 19,
    }),
  })
  .map(({ gaps, v, ...record }) => ({ ...record, dt: gaps.slice(0, v.length - 1), v }) as PackedRun)

/** The line among others, as it stands in a file. */
function parse(line: Buffer): unknown {
  const bytes = Buffer.concat([Buffer.from('{"seq":1}\n'), line, Buffer.from('\n{"seq":2,"run"],"v":["x"]}\n')])
  return parsePackedRunLine(bytes, 10, 10 + line.length)
}

function general(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    return undefined
  }
}

describe('a packed run', () => {
  it('of any block, with any texts and gaps', () => {
    fc.assert(
      fc.property(runs, (run) => {
        expect(parse(Buffer.from(packedRunJson(run)))).toEqual(run)
      }),
      { numRuns: 2000 },
    )
  })

  it('of the same block as the one before, and of one that starts like it', () => {
    const run: PackedRun = { seq: 0, time: 0, run: { turn: 1, step: 1, kind: 'text', index: 1 }, dt: [], v: ['a'] }
    const next: PackedRun = { ...run, run: { turn: 1, step: 1, kind: 'text', index: 12 }, dt: [-3], v: ['a', 'b'] }
    for (const each of [run, run, next, run]) expect(parse(Buffer.from(packedRunJson(each)))).toEqual(each)
  })
})

describe('anything else', () => {
  it('with any byte changed, left out or put in, is what a parser makes of it, or is left to the parser', () => {
    fc.assert(
      fc.property(runs, fc.nat(), fc.nat(255), fc.constantFrom(0, 1, 2), (run, place, byte, how) => {
        const line = Buffer.from(packedRunJson(run))
        const at = place % line.length
        const changed = Buffer.concat([
          line.subarray(0, at),
          how === 1 ? Buffer.alloc(0) : Buffer.of(byte & 0x7f),
          line.subarray(how === 2 ? at : at + 1),
        ])
        const found = parse(changed)
        if (found !== undefined) expect(found).toEqual(general(changed))
      }),
      { numRuns: 5000 },
    )
  })

  it.each([
    '',
    '{',
    '{"seq":',
    '{"seq":1,"time":1,"type":"a","data":null}',
    '{"seq":1,"time":1,"run":{"turn":1},"dt":[],"v":["a"]} ',
    '{"seq":1,"time":1,"run":{"turn":1},"dt":[01],"v":["a","b"]}',
    '{"seq":1,"time":1,"run":{"turn":1},"dt":[-0],"v":["a","b"]}',
    '{"seq":1,"time":1,"run":{"turn":1},"dt":[1.5],"v":["a","b"]}',
    '{"seq":1,"time":1,"run":{"turn":1},"dt":[1234567890123456],"v":["a","b"]}',
    '{"seq":1,"time":1,"run":{"turn":1},"dt":[],"v":["a","b"]}',
    '{"seq":1,"time":1,"run":{"turn":1},"dt":[],"v":["\\x"]}',
    '{"seq":1,"time":1,"run":{"turn":1},"dt":[],"v":["a\tb"]}',
    '{"seq":1,"time":1,"run":{"turn":},"dt":[],"v":["a"]}',
    '{"seq":1,"time":1,"run":\u0000,"dt":[],"v":["a"]}',
  ])('%j', (line) => {
    // The block of a sound run must not stand in for a damaged one.
    expect(parse(Buffer.from('{"seq":1,"time":1,"run":{"turn":2},"dt":[],"v":["a"]}'))).toBeDefined()
    expect(parse(Buffer.from(line))).toBeUndefined()
  })
})
