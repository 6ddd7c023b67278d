// Proves that packing loses nothing, packs what it should, and that a damaged or hostile run is refused.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnySessionEvent } from '../../src/event/event.ts'
import { eventJson } from '../../src/event/event-json.ts'
import {
  decodePackedRun,
  isPackedRun,
  type PackedRun,
  packedRunJson,
  packRuns,
  unpackRun,
  unpackRunInto,
} from '../../src/event/packed-run.ts'
import { LIMITS } from '../../src/limits.ts'
import { anyLog, scale } from './arbitraries.ts'

type Record = AnySessionEvent | PackedRun
const recordJson = (record: Record): string => (isPackedRun(record) ? packedRunJson(record) : eventJson(record))

/** Through JSON, as a backend does it. */
function restored(records: readonly Record[], first: number): AnySessionEvent[] {
  const events: AnySessionEvent[] = []
  for (const json of records.map(recordJson)) {
    const parsed: unknown = JSON.parse(json)
    if (isPackedRun(parsed)) events.push(...unpackRun(decodePackedRun(parsed, first + events.length)))
    else events.push(parsed as AnySessionEvent)
  }
  return events
}

const text = { turn: 1, step: 1, kind: 'text', index: 0 }
const call = { turn: 1, step: 1, kind: 'tool-arguments', index: 1, callId: 'c' }
const deltas = (count: number, block: object = text, first: number = 0): AnySessionEvent[] =>
  Array.from({ length: count }, (_, at) => ({
    seq: first + at,
    time: 1000 + at,
    type: 'assistant/chunk',
    data: { ...block, text: `t${at}` },
  }))

it('a part of a run is what the whole has there, behind what is there already, with the time of the last of all', () => {
  const run = packRuns(deltas(6, call, 10))[0] as PackedRun
  const all = unpackRun(run)
  for (let from = 8; from < 18; from++) {
    for (let to = from - 1; to < 18; to++) {
      const events = deltas(1)
      expect(unpackRunInto(run, from, to, events)).toBe(1005)
      expect(events).toEqual([...deltas(1), ...all.filter(({ seq }) => seq >= from && seq <= to)])
    }
  }
})

describe('packing', () => {
  it('gives back every log exactly', () => {
    const logs = fc.nat({ max: 1e6 }).chain((first) => fc.tuple(fc.constant(first), anyLog(first)))
    fc.assert(
      fc.property(logs, ([first, log]) => {
        const records = packRuns(log)
        expect(restored(records, first).map(eventJson)).toEqual(log.map(eventJson))
        expect(records.length).toBeLessThanOrEqual(log.length)
      }),
      { numRuns: 500 * scale },
    )
  })

  it('of different logs never makes the same records', () => {
    // Otherwise one of the two could not be given back.
    fc.assert(
      fc.property(anyLog(), anyLog(), (a, b) => {
        const same = JSON.stringify(packRuns(a).map(recordJson)) === JSON.stringify(packRuns(b).map(recordJson))
        expect(same).toBe(JSON.stringify(a.map(eventJson)) === JSON.stringify(b.map(eventJson)))
      }),
      { numRuns: 200 * scale },
    )
  })

  it.each<[string, object]>([
    ['text', text],
    ['reasoning', { ...text, kind: 'reasoning' }],
    ['arguments', call],
    ['arguments with the name', { ...call, name: 'tool' }],
  ])('makes one record of a run of %s', (_, block) => {
    const log = deltas(5, block, 10)
    expect(packRuns(log)).toEqual([
      { seq: 10, time: 1000, run: block, dt: [1, 1, 1, 1], v: ['t0', 't1', 't2', 't3', 't4'] },
    ])
    expect(restored(packRuns(log), 10)).toEqual(log)
  })

  it('writes the documented JSON', () => {
    const [record] = packRuns(deltas(3, { ...call, name: 'n' }, 7))
    expect(record && recordJson(record)).toBe(
      '{"seq":7,"time":1000,"run":{"turn":1,"step":1,"kind":"tool-arguments","index":1,"callId":"c","name":"n"},"dt":[1,1],"v":["t0","t1","t2"]}',
    )
  })

  it('leaves two deltas as they are, the very objects', () => {
    const log = deltas(2)
    const records = packRuns(log)
    expect(records[0]).toBe(log[0])
    expect(records[1]).toBe(log[1])
    expect(packRuns([])).toEqual([])
  })

  it.each<[string, object]>([
    ['turn', { ...text, turn: 2 }],
    ['step', { ...text, step: 2 }],
    ['kind', { ...text, kind: 'reasoning' }],
    ['index', { ...text, index: 1 }],
    ['kind of block', call],
  ])('starts a new record when the %s changes', (_, other) => {
    const log = [...deltas(3, text, 0), ...deltas(3, other, 3)]
    expect(packRuns(log).map((record) => isPackedRun(record) && record.v.length)).toEqual([3, 3])
  })

  it.each<[string, object]>([
    ['callId', { ...call, callId: 'd' }],
    ['presence of the name', { ...call, name: 'n' }],
  ])('starts a new record when the %s changes', (_, other) => {
    const log = [...deltas(3, call, 0), ...deltas(3, other, 3)]
    expect(packRuns(log).map((record) => isPackedRun(record) && record.v.length)).toEqual([3, 3])
  })

  it.each<[string, (event: AnySessionEvent) => unknown]>([
    ['another key order', (event) => ({ ...event, data: { text: 'x', ...text } })],
    ['another key', (event) => ({ ...event, data: { ...(event.data as object), more: 1 } })],
    ['other content', (event) => ({ ...event, data: { turn: 1, step: 1, kind: 'other', index: 0, value: 1 } })],
    ['a name on text', (event) => ({ ...event, data: { ...text, name: 'n', text: 'x' } })],
    ['a number for text', (event) => ({ ...event, data: { ...text, text: 1 } })],
    ['data that is null', (event) => ({ ...event, data: null })],
    ['another type', (event) => ({ ...event, type: 'acme/chunk' })],
    ['ignorable', (event) => ({ ...event, ignorable: true })],
    ['sources', (event) => ({ ...event, sources: [] })],
    ['surface', (event) => ({ ...event, surface: { replace: [0, 0] } })],
  ])('keeps events with %s as they are', (_, change) => {
    const log = deltas(7).map((event) => (event.seq === 3 ? change(event) : event)) as AnySessionEvent[]
    const records = packRuns(log)
    expect(records.map(isPackedRun)).toEqual([true, false, true])
    expect(records[1]).toBe(log[3])
    expect(restored(records, 0).map(eventJson)).toEqual(log.map(eventJson))
  })

  it('does not pack over a gap in the seqs, or in times that no exact number bridges', () => {
    const gap = [...deltas(3, text, 0), ...deltas(3, text, 9)]
    expect(packRuns(gap)).toHaveLength(2)
    const far = deltas(6).map((event) => ({ ...event, time: (event.seq < 3 ? -1 : 1) * Number.MAX_SAFE_INTEGER }))
    expect(packRuns(far)).toHaveLength(2)
  })

  it('keeps times that go backwards', () => {
    const log = deltas(4).map((event, at) => ({ ...event, time: [50, 10, 10, 99][at] ?? 0 }))
    expect(packRuns(log)).toMatchObject([{ time: 50, dt: [-40, 0, 89] }])
    expect(restored(packRuns(log), 0)).toEqual(log)
  })

  it('stays within the limits of one run', () => {
    const many = packRuns(deltas(LIMITS.runEvents + 3))
    expect(many.map((record) => isPackedRun(record) && record.v.length)).toEqual([LIMITS.runEvents, 3])
    const long = '会'.repeat(LIMITS.runBytes / 12)
    const large = deltas(9).map((event) => ({ ...event, data: { ...text, text: long } }))
    const records = packRuns(large)
    expect(records.map((record) => isPackedRun(record) && record.v.length)).toEqual([4, 4, false])
    expect(restored(records, 0)).toEqual(large)
    const huge = deltas(3).map((event) => ({ ...event, data: { ...text, text: 'x'.repeat(LIMITS.runBytes + 1) } }))
    expect(restored(packRuns(huge), 0)).toEqual(huge)
  })
})

describe('decodePackedRun', () => {
  const run = { seq: 5, time: 1, run: text, dt: [1, 2], v: ['a', 'b', 'c'] }

  it('returns the same object', () => {
    expect(decodePackedRun(run, 5)).toBe(run)
    const one = { ...run, dt: [], v: ['a'] }
    expect(decodePackedRun(one)).toBe(one)
  })

  it('names the seq that was expected and the one that was found', () => {
    expect(() => decodePackedRun(run, 4)).toThrow(
      expect.objectContaining({ code: 'CORRUPT', seq: 4, expected: 4, found: 5 }),
    )
  })

  const texts = (count: number): string[] => Array.from({ length: count }, () => '')
  it.each<[string, unknown]>([
    ['null', null],
    ['an array', []],
    ['no seq', { ...run, seq: undefined }],
    ['a negative seq', { ...run, seq: -1 }],
    ['seqs past exact integers', { ...run, seq: Number.MAX_SAFE_INTEGER - 1 }],
    ['a fractional time', { ...run, time: 0.5 }],
    ['another key', { ...run, more: 1 }],
    ['a type', { seq: 5, time: 1, type: 'x', run: text, dt: [], v: ['a'] }],
    ['no block', { ...run, run: null }],
    ['a block with text', { ...run, run: { ...text, text: '' } }],
    ['a block with another key', { ...run, run: { ...text, more: 1 } }],
    ['a block of kind other', { ...run, run: { ...text, kind: 'other' } }],
    ['a block without an index', { ...run, run: { turn: 1, step: 1, kind: 'text' } }],
    ['a block outside a turn', { ...run, run: { ...text, turn: 0 } }],
    ['a text block with a call', { ...run, run: { ...text, callId: 'c' } }],
    ['a call block without an id', { ...run, run: { ...text, kind: 'tool-arguments' } }],
    ['a call block with a wrong name', { ...run, run: { ...call, name: 1 } }],
    [
      'an own __proto__ in the block',
      { ...run, run: JSON.parse('{"turn":1,"step":1,"kind":"text","index":0,"__proto__":1}') },
    ],
    ['no texts', { ...run, v: [], dt: [] }],
    ['texts that are no list', { ...run, v: 'abc' }],
    ['a text that is none', { ...run, v: ['a', 1, 'c'] }],
    ['a gap too few', { ...run, dt: [1] }],
    ['a gap too many', { ...run, dt: [1, 2, 3] }],
    ['a fractional gap', { ...run, dt: [1, 0.5] }],
    ['a gap that is a text', { ...run, dt: [1, '2'] }],
    ['times past exact integers', { ...run, time: Number.MAX_SAFE_INTEGER }],
    ['an event too many', { ...run, dt: texts(LIMITS.runEvents).map(() => 0), v: texts(LIMITS.runEvents + 1) }],
    ['a byte too many', { ...run, v: ['', '', 'x'.repeat(LIMITS.runBytes + 1)] }],
    ['a byte too many in few characters', { ...run, v: ['x', 'y', '会'.repeat(Math.ceil(LIMITS.runBytes / 3))] }],
  ])('refuses %s', (_, value) => {
    expect(() => decodePackedRun(value)).toThrow(expect.objectContaining({ code: 'CORRUPT' }))
  })

  it('accepts both limits themselves', () => {
    const events = { ...run, dt: texts(LIMITS.runEvents - 1).map(() => 0), v: texts(LIMITS.runEvents) }
    expect(unpackRun(decodePackedRun(events))).toHaveLength(LIMITS.runEvents)
    const bytes = { ...run, v: ['', '', 'x'.repeat(LIMITS.runBytes)] }
    expect(decodePackedRun(bytes)).toBe(bytes)
  })
})
