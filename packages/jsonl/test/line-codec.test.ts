// Proves that what is written is what is read, that the quick road through a line gives exactly what the general one
// gives, and that the checksums are CRC-32.
import { crc32 } from 'node:zlib'
import { type AnySessionEvent, isElided } from '@session-persistence/core'
import { seedOf } from '@session-persistence/file-log'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32Of, viewOf } from '../src/crc.ts'
import { lineCodec } from '../src/index.ts'
import { SAMPLE_BATCHES, sampleHeader } from './parts/sample-log.ts'
import { SCALE } from './parts/scale.ts'

const ALL = { from: 0, to: Number.MAX_SAFE_INTEGER, elideChunks: false }
const numRuns = 300 * SCALE

describe('the checksum', () => {
  it('is the one of zlib, for every length, offset and seed', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 700 }),
        fc.nat(20),
        fc.nat(0xffffffff),
        (array, from, seed) => {
          const bytes = Buffer.from(array)
          const start = Math.min(from, bytes.length - 1)
          expect(crc32Of(bytes, viewOf(bytes), start, bytes.length, seed)).toBe(crc32(bytes.subarray(start), seed))
        },
      ),
      { numRuns },
    )
  })

  it('gives its seed back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(0xffffffff), (array, seed) => {
        expect(seedOf(Buffer.from(array), crc32(array, seed))).toBe(seed)
      }),
      { numRuns },
    )
  })
})

const integer = fc.oneof(fc.nat(20), fc.maxSafeInteger(), fc.constantFrom(0, -0, -1, 10 ** 15, 999_999_999_999_999))
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ maxLength: 30 }),
  fc.constantFrom(
    '"',
    '\\',
    '\n',
    '}',
    '"}',
    '\u2028',
    '\ud800',
    '\u0000',
    'é',
    '漢',
    ',"batch":5',
    ',"crc":"00000000"',
  ),
)
const positive = fc.integer({ min: 1, max: 2 ** 53 - 1 })
/** Chunks of the usual shapes and of shapes close to them. */
const chunkData = fc.oneof(
  fc.record({ turn: positive, step: positive, kind: fc.constantFrom('text', 'reasoning'), index: fc.nat(), text }),
  fc.record({
    turn: positive,
    step: positive,
    kind: fc.constant('tool-arguments'),
    index: fc.nat(),
    callId: text,
    text,
  }),
  fc.record({
    turn: positive,
    step: positive,
    kind: fc.constant('tool-arguments'),
    index: fc.nat(),
    callId: text,
    name: text,
    text,
  }),
  fc.record({ turn: positive, step: positive, kind: fc.constant('other'), value: fc.jsonValue() }),
  fc.record(
    { turn: positive, step: positive, kind: text, index: fc.double(), text, more: fc.jsonValue() },
    { requiredKeys: [] },
  ),
  fc.record({ step: positive, turn: positive, text, index: fc.nat(), kind: fc.constant('text') }),
)
const events = fc.array(
  fc.record({
    time: integer.map((time) => time + 0),
    type: fc.oneof(
      { weight: 4, arbitrary: fc.constant('assistant/chunk') },
      { weight: 1, arbitrary: fc.constantFrom('acme/x', 'turn/start') },
    ),
    data: fc.oneof({ weight: 4, arbitrary: chunkData }, { weight: 1, arbitrary: fc.jsonValue() }),
    more: fc.constantFrom<Partial<AnySessionEvent>>(
      {},
      {},
      {},
      { ignorable: true },
      { surface: { replace: [0, 0] } },
      { sources: [[0, 0]] },
    ),
  }),
  { minLength: 1, maxLength: 20 },
)

/** As JSON gives it back: what lossless JSON would have refused is not the codec's matter. */
function asStored(
  values: readonly { time: number; type: string; data: unknown; more: Partial<AnySessionEvent> }[],
): AnySessionEvent[] {
  return values.map(
    ({ time, type, data, more }, seq) =>
      JSON.parse(JSON.stringify({ seq, time, type, data, ...more })) as AnySessionEvent,
  )
}

describe.each([
  { pack: false, checksum: 'crc32' },
  { pack: true, checksum: 'crc32' },
  { pack: false, checksum: 'none' },
  { pack: true, checksum: 'none' },
] as const)('with %o', (options) => {
  it('any events come back, and elided ones are the chunks', async () => {
    await fc.assert(
      fc.asyncProperty(events, async (values) => {
        const written = asStored(values)
        const { bytes, dialect } = await lineCodec(options).create(sampleHeader('s'))
        const batch = await dialect.encodeBatch(written, bytes.length)
        const opened = lineCodec().open(Buffer.concat([bytes, batch]))
        expect(opened.header).toEqual(sampleHeader('s'))
        const start = { nextSeq: 0, batchSeq: 0 }
        const window = (): { bytes: Buffer; offset: number } => ({ bytes: Buffer.from(batch), offset: bytes.length })
        const { records, damage, end } = await opened.scan(window(), start, ALL)
        expect(damage).toBeUndefined()
        expect(end).toBe(bytes.length + batch.length)
        expect(records).toEqual(written)
        // Keys in the same order too: receipts are made of it.
        expect(JSON.stringify(records)).toBe(JSON.stringify(written))
        const elided = await opened.scan(window(), start, { ...ALL, elideChunks: true })
        let seq = 0
        for (const record of elided.records) {
          if (!isElided(record)) expect(record).toEqual(written[seq])
          else {
            for (const event of written.slice(seq, seq + record.count)) {
              expect(event).toMatchObject({ type: 'assistant/chunk', data: { turn: record.turn, step: record.step } })
            }
          }
          seq += isElided(record) ? record.count : 1
        }
        expect(seq).toBe(written.length)
      }),
      { numRuns },
    )
  })
})

it('splits at line feeds only, and writes no separator that another tool would split at', async () => {
  const { dialect } = await lineCodec().create(sampleHeader('s'))
  const data = { text: '\u2028\u2029\u0085\u000b\u000c\r\n\u0000' }
  const batch = await dialect.encodeBatch([{ seq: 0, time: 0, type: 'acme/x', data }], 0)
  const written = batch.toString('utf8')
  for (const separator of ['\u2028', '\u2029', '\r', '\u000b', '\u000c', '\u0000'])
    expect(written).not.toContain(separator)
  expect([...batch].filter((byte) => byte === 10)).toHaveLength(1)
})

it('refuses to write events that are not contiguous', async () => {
  const { dialect } = await lineCodec().create(sampleHeader('s'))
  const [first, , third] = SAMPLE_BATCHES[0] ?? []
  if (first === undefined || third === undefined) throw new Error('the sample is too short')
  await expect(async () => await dialect.encodeBatch([first, third], 0)).rejects.toMatchObject({ code: 'INVARIANT' })
})

it.each([{ pack: 'yes' }, { checksum: 'md5' }])('refuses the options %o', (options) => {
  expect(() => lineCodec(options as object)).toThrowError(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
})
