// Proves that exactly envelopes pass, unchanged, and that everything else is CORRUPT with its seq.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeEvent } from '../../src/event/decode-event.ts'
import { LIMITS } from '../../src/limits.ts'
import { anyLog, losslessJson, scale } from './arbitraries.ts'

const event = { seq: 7, time: 1, type: 'acme/note', data: { a: 1 } }
const corrupt = (details: object): unknown => expect.objectContaining({ code: 'CORRUPT', ...details })

describe('decodeEvent', () => {
  it('returns every event that was written, the same object', () => {
    fc.assert(
      fc.property(anyLog(), (log) => {
        log.forEach((each, seq) => {
          const json = JSON.stringify(each)
          const parsed: unknown = JSON.parse(json)
          expect(decodeEvent(parsed, seq, json.length)).toBe(parsed)
        })
      }),
      { numRuns: 200 * scale },
    )
  })

  it.each([
    { ...event },
    { ...event, data: null },
    { ...event, time: -5 },
    { ...event, ignorable: true },
    { ...event, surface: { replace: [0, 0] } },
    { ...event, surface: { replace: [2, 1] } },
    { ...event, sources: [] },
    {
      ...event,
      sources: [
        [0, 3],
        [5, 5],
      ],
    },
    { ...event, seq: Number.MAX_SAFE_INTEGER },
    { data: 1, type: 'a', time: 1, seq: 7 },
  ])('accepts %j', (value) => {
    expect(decodeEvent(value)).toBe(value)
  })

  it.each<[string, unknown]>([
    ['null', null],
    ['an array', [event]],
    ['a text', 'x'],
    ['no seq', { ...event, seq: undefined }],
    ['a negative seq', { ...event, seq: -1 }],
    ['a fractional seq', { ...event, seq: 1.5 }],
    ['a seq past exact integers', { ...event, seq: 2 ** 53 }],
    ['a seq as text', { ...event, seq: '7' }],
    ['no time', { seq: 7, type: 'a', data: 1 }],
    ['a fractional time', { ...event, time: 0.5 }],
    ['an empty type', { ...event, type: '' }],
    ['a type that is no text', { ...event, type: 1 }],
    ['no data', { seq: 7, time: 1, type: 'a' }],
    ['ignorable: false', { ...event, ignorable: false }],
    ['an empty surface', { ...event, surface: {} }],
    ['a null surface', { ...event, surface: null }],
    ['a surface with more', { ...event, surface: { replace: [0, 1], more: 1 } }],
    ['a replace range of three', { ...event, surface: { replace: [0, 1, 2] } }],
    ['a replace range below zero', { ...event, surface: { replace: [-1, 1] } }],
    ['sources that are no list', { ...event, sources: {} }],
    ['a source that is no range', { ...event, sources: [[0, 1], 2] }],
    ['a source with a fraction', { ...event, sources: [[0, 0.5]] }],
    ['an unknown key', { ...event, crc: 'x' }],
    ['an own __proto__', JSON.parse('{"seq":7,"time":1,"type":"a","data":1,"__proto__":{}}')],
  ])('refuses %s', (_, value) => {
    expect(() => decodeEvent(value)).toThrow(corrupt({}))
  })

  it('names the seq that was expected and the one that was found', () => {
    expect(() => decodeEvent(event, 6)).toThrow(corrupt({ seq: 6, expected: 6, found: 7 }))
    expect(() => decodeEvent({ ...event, time: 'x' }, 7)).toThrow(corrupt({ seq: 7 }))
    expect(() => decodeEvent(null, 7)).toThrow(corrupt({ seq: 7 }))
  })

  it('never shows what it found', () => {
    const values = fc.record({
      seq: fc.constant(1),
      time: fc.constantFrom(1, 'a secret'),
      type: fc.constantFrom('a', { a: 'a secret' }),
      'a secret': losslessJson(),
    })
    fc.assert(
      fc.property(values, (value) => {
        expect(() => decodeEvent(value)).toThrow(
          expect.objectContaining({ message: expect.not.stringContaining('secret') }),
        )
      }),
    )
  })

  it('refuses nesting past the limit when told the length of the text', () => {
    const nested = (depth: number): [unknown, number] => {
      const json = `{"seq":7,"time":1,"type":"a","data":${'['.repeat(depth)}${']'.repeat(depth)}}`
      return [JSON.parse(json), json.length]
    }
    const [fits, fitsLength] = nested(LIMITS.depth)
    expect(decodeEvent(fits, 7, fitsLength)).toBe(fits)
    const [deep, deepLength] = nested(LIMITS.depth + 1)
    expect(() => decodeEvent(deep, 7, deepLength)).toThrow(corrupt({ seq: 7 }))
    expect(decodeEvent(deep, 7)).toBe(deep)
    const [hostile, hostileLength] = nested(1_000_000)
    expect(() => decodeEvent(hostile, 7, hostileLength)).toThrow(corrupt({ seq: 7 }))
  })
})
