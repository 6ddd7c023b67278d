// Proves that events survive their rows exactly, and that no changed, moved or retyped row passes for another.
import { type AnySessionEvent, isSessionError } from '@session-persistence/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { singleText } from '../src/joined-texts.ts'
import { recordCrc } from '../src/row-checksum.ts'
import {
  elideRow,
  encodeRows,
  type RecordRow,
  rowEvents,
  SEQ_SPAN,
  type VerifiedRow,
  verifyRow,
} from '../src/row-codec.ts'
import { chunk, SAMPLE_EVENTS } from './parts/sample-log.ts'
import { SCALE } from './parts/scale.ts'

const SALT = 0x9f86d081

/** A row as the table gives it back. */
function stored(row: RecordRow, number = 7): unknown[] {
  const { seq, time, type, events, data, extra } = row
  return [number * SEQ_SPAN + seq, time, type, events, Buffer.from(data), extra, recordCrc(row, data, SALT)]
}

/** `data` is bytes where the column is text. */
function verify(columns: readonly unknown[], salt = SALT): VerifiedRow {
  const data = columns[4]
  return verifyRow(columns, Buffer.isBuffer(data) ? singleText(data) : undefined, salt)
}

function roundTrip(events: readonly AnySessionEvent[]): readonly AnySessionEvent[] {
  return encodeRows(events).flatMap((row) => rowEvents(verify(stored(row))))
}

const text = fc.string({ unit: fc.oneof(fc.string(), fc.constantFrom('\ud83d', '\u0000', '\u2028', '"', '\\', 'é')) })
const run = fc
  .record({
    length: fc.integer({ min: 1, max: 300 }),
    kind: fc.constantFrom('text', 'reasoning'),
    texts: fc.array(text, { minLength: 1, maxLength: 5 }),
    gaps: fc.array(fc.integer({ min: -5, max: 50 }), { minLength: 1, maxLength: 5 }),
  })
  .map(({ length, kind, texts, gaps }) =>
    Array.from({ length }, (_, at) => ({
      type: 'assistant/chunk',
      gap: gaps[at % gaps.length] ?? 0,
      data: { turn: 1, step: 1, kind, index: 0, text: texts[at % texts.length] },
    })),
  )
const other = fc
  .record({
    type: fc.oneof(fc.constantFrom('turn/start', 'acme/note'), fc.string({ minLength: 1 }), text),
    data: fc.jsonValue(),
  })
  .map(({ type, data }) => [{ type: type === '' ? 'x' : type, gap: 1, data }])
const log = fc.array(fc.oneof(run, other), { maxLength: 8 }).map((parts) => {
  let time = 1_700_000_000_000
  return parts.flat().map(({ type, gap, data }, seq): AnySessionEvent => {
    time += gap
    return { seq, time, type, data }
  })
})

describe('rows', () => {
  it('give back every event exactly, down to the order of keys', () => {
    fc.assert(
      fc.property(log, (events) => {
        expect(JSON.stringify(roundTrip(events))).toBe(JSON.stringify(events))
      }),
      { numRuns: 200 * SCALE },
    )
    expect(JSON.stringify(roundTrip(SAMPLE_EVENTS))).toBe(JSON.stringify(SAMPLE_EVENTS))
  })

  it('hold at most 128 events, and a run of fewer than three is stored as events', () => {
    const events = Array.from({ length: 386 }, (_, seq) => chunk(seq, `t${seq}`))
    expect(encodeRows(events).map((row) => [row.seq, row.events])).toEqual([
      [0, 128],
      [128, 128],
      [256, 128],
      [384, 1],
      [385, 1],
    ])
    expect(encodeRows(events.slice(0, 2)).map((row) => row.events)).toEqual([1, 1])
  })

  it('keep the type readable, and safe where it is not', () => {
    const row = encodeRows([{ seq: 0, time: 1, type: 'odd "type"\u0000', data: 5 }])[0]
    expect(row?.type).toBe('odd \\"type\\"\\u0000')
    expect(encodeRows([{ seq: 0, time: 1, type: 'turn/start', data: 5 }])[0]?.type).toBe('turn/start')
  })
})

describe('a row that is not what was stored', () => {
  const row = encodeRows(SAMPLE_EVENTS.slice(8, 9))[0] as RecordRow

  it.each([
    ['another salt', () => verify(stored(row), SALT + 1)],
    ['another seq', () => verify(stored(row).with(0, 7 * SEQ_SPAN + 9))],
    ['another time', () => verify(stored(row).with(1, row.time + 1))],
    ['another type', () => verify(stored(row).with(2, 'user/message'))],
    ['another number of events', () => verify(stored(row).with(3, 2))],
    ['another letter', () => verify(stored(row).with(4, Buffer.from(row.data.replace('Hello', 'Jello'))))],
    ['no envelope', () => verify(stored(row).with(5, null))],
    ['data that is no text', () => verify(stored(row).with(4, null))],
    ['a missing column', () => verify(stored(row).with(2, null))],
    ['a real number for a time', () => verify(stored(row).with(1, row.time + 0.5))],
  ])('%s is CORRUPT', (_, read) => {
    expect(isCorrupt(read)).toBe(true)
  })

  it.each([
    ['text that is no JSON', { ...row, data: '{' }],
    ['an envelope key that does not exist', { ...row, extra: '{"other":1}' }],
    ['an envelope that overwrites the data', { ...row, extra: '{"data":1}' }],
    ['an envelope with a prototype', { ...row, extra: '{"__proto__":{"ignorable":true}}' }],
    ['a run with fewer events than it says', { ...row, type: 'assistant/chunk', events: 3, extra: null }],
    [
      'a run that brings its own time',
      { ...row, type: 'assistant/chunk', events: 3, extra: null, data: '{"time":1,"run":{},"dt":[],"v":[]}' },
    ],
    ['nesting beyond the limit', { ...row, extra: null, data: `${'['.repeat(5000)}${']'.repeat(5000)}` }],
  ])('a forged checksum over %s is CORRUPT all the same', (_, forged: RecordRow) => {
    expect(isCorrupt(() => rowEvents(verify(stored(forged))))).toBe(true)
  })

  function isCorrupt(read: () => unknown): boolean {
    try {
      read()
      return false
    } catch (error) {
      // Nothing of the content may show.
      return isSessionError(error, 'CORRUPT') && error.seq !== undefined && !error.message.includes('Hello')
    }
  }
})

function read(events: readonly AnySessionEvent[]): VerifiedRow {
  return verify(stored(encodeRows(events)[0] as RecordRow))
}

describe('elided chunks', () => {
  it('tell count, turn and step of packed and of single ones', () => {
    const packed = read([chunk(3, 'a'), chunk(4, 'b'), chunk(5, 'c')])
    expect(elideRow(packed)).toEqual({ elided: 'assistant/chunk', seq: 3, count: 3, turn: 1, step: 1 })
    const single = read([chunk(3, 'a')])
    expect(elideRow(single)).toEqual({ elided: 'assistant/chunk', seq: 3, count: 1, turn: 1, step: 1 })
  })

  it('are given as they are where the place cannot be told without decoding', () => {
    const odd: AnySessionEvent = {
      seq: 0,
      time: 1,
      type: 'assistant/chunk',
      data: { kind: 'text', turn: 1, step: 1, index: 0, text: '' },
    }
    expect(elideRow(read([odd]))).toBeUndefined()
    expect(elideRow(read([{ ...odd, type: 'step/start', data: { turn: 1, step: 1 } }]))).toBeUndefined()
  })
})
