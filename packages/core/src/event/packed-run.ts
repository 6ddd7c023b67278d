/**
 * Packed runs: consecutive deltas of one block as one record (formats.md, packed runs). Lossless to the event.
 *
 *     {"seq":7,"time":1700000000000,"run":{"turn":1,"step":1,"kind":"text","index":0},"dt":[12,0],"v":["He","ll","o"]}
 *
 * stands for `v.length` events `assistant/chunk`: the first has `seq` and `time`; each next one has the next seq, and
 * the time of the one before plus its entry of `dt` (milliseconds, may be negative), which therefore is one shorter
 * than `v`. The data of each is `run` with `text` added at its end. Keys of `run`, in this order: turn, step, kind
 * (`text`, `reasoning`, `tool-arguments`), index, and for `tool-arguments` callId and, when the events have it, name.
 *
 * Only runs of at least three are packed. Everything unusual stays an event as it is: other keys, another key order,
 * `other` chunks, an envelope with ignorable, surface or sources. A record holds at most `LIMITS.runEvents` events and
 * `LIMITS.runBytes` bytes of text.
 */
import { SessionError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import type { AnySessionEvent } from './event.ts'

/** What the deltas of a run have in common. */
export type RunBlock =
  | {
      readonly turn: number
      readonly step: number
      readonly kind: 'text' | 'reasoning'
      readonly index: number
    }
  | {
      readonly turn: number
      readonly step: number
      readonly kind: 'tool-arguments'
      readonly index: number
      readonly callId: string
      readonly name?: string
    }

export interface PackedRun {
  /** Seq of the first delta. */
  readonly seq: number
  /** Time of the first delta, Unix milliseconds. */
  readonly time: number
  readonly run: RunBlock
  /** Milliseconds from each delta to the next. */
  readonly dt: readonly number[]
  /** Text of each delta. */
  readonly v: readonly string[]
}

/** Two deltas as one record save nothing worth its cost. */
const RUN_EVENTS_MIN = 3

/** UTF-8 bytes that one UTF-16 unit takes at most. */
const UNIT_BYTES_MAX = 3

type Delta = RunBlock & { readonly text: string }

/** The same log with its runs packed, in order. The events themselves are not copied. */
export function packRuns(events: readonly AnySessionEvent[]): readonly (AnySessionEvent | PackedRun)[] {
  const records: (AnySessionEvent | PackedRun)[] = []
  let start = 0
  while (start < events.length) {
    const end = runEnd(events, start)
    if (end - start >= RUN_EVENTS_MIN) records.push(packed(events, start, end))
    else for (let at = start; at < end; at++) records.push(events[at] as AnySessionEvent)
    start = end
  }
  return records
}

/** Index after the last event that can share a record with the one at `start`; at least `start + 1`. */
function runEnd(events: readonly AnySessionEvent[], start: number): number {
  let previous = events[start] as AnySessionEvent
  const first = deltaOf(previous)
  if (first === undefined) return start + 1
  let units = first.text.length
  const last = Math.min(events.length, start + LIMITS.runEvents)
  let end = start + 1
  for (; end < last; end++) {
    const event = events[end] as AnySessionEvent
    const delta = deltaOf(event)
    if (delta === undefined || !isSameBlock(first, delta)) break
    if (event.seq !== previous.seq + 1 || !Number.isSafeInteger(event.time - previous.time)) break
    units += delta.text.length
    if (units * UNIT_BYTES_MAX > LIMITS.runBytes) break
    previous = event
  }
  return end
}

/** The data of an event that a run can give back exactly, down to the order of its keys. */
function deltaOf(event: AnySessionEvent): Delta | undefined {
  if (event.type !== 'assistant/chunk') return undefined
  if (event.ignorable !== undefined || event.surface !== undefined || event.sources !== undefined) return undefined
  const data = event.data as Partial<Delta> | null
  if (typeof data !== 'object' || data === null || typeof data.text !== 'string') return undefined
  if (!isPositive(data.turn) || !isPositive(data.step) || !isSeq(data.index)) return undefined
  const isDelta =
    data.kind === 'tool-arguments'
      ? typeof data.callId === 'string' &&
        (data.name === undefined
          ? hasKeys(data, CALL_KEYS)
          : typeof data.name === 'string' && hasKeys(data, NAMED_KEYS))
      : (data.kind === 'text' || data.kind === 'reasoning') && hasKeys(data, TEXT_KEYS)
  return isDelta ? (data as Delta) : undefined
}

const TEXT_KEYS = ['turn', 'step', 'kind', 'index', 'text'] as const
const CALL_KEYS = ['turn', 'step', 'kind', 'index', 'callId', 'text'] as const
const NAMED_KEYS = ['turn', 'step', 'kind', 'index', 'callId', 'name', 'text'] as const

function hasKeys(data: object, keys: readonly string[]): boolean {
  let at = 0
  for (const key in data) if (key !== keys[at++]) return false
  return at === keys.length
}

function isSameBlock(a: Delta, b: Delta): boolean {
  if (a.turn !== b.turn || a.step !== b.step || a.kind !== b.kind || a.index !== b.index) return false
  return a.kind !== 'tool-arguments' || b.kind !== 'tool-arguments' || (a.callId === b.callId && a.name === b.name)
}

function packed(events: readonly AnySessionEvent[], start: number, end: number): PackedRun {
  const first = events[start] as AnySessionEvent
  const { text, ...run } = first.data as Delta
  const dt: number[] = []
  const v: string[] = [text]
  let time = first.time
  for (let at = start + 1; at < end; at++) {
    const event = events[at] as AnySessionEvent
    dt.push(event.time - time)
    v.push((event.data as Delta).text)
    time = event.time
  }
  return { seq: first.seq, time: first.time, run, dt, v }
}

/** True for a record that claims to be a packed run; {@link decodePackedRun} checks that it is one. */
export function isPackedRun(record: unknown): record is PackedRun {
  return typeof record === 'object' && record !== null && 'run' in record
}

/** The record as JSON, keys in the documented order. */
export function packedRunJson({ seq, time, run, dt, v }: PackedRun): string {
  return JSON.stringify({ seq, time, run, dt, v })
}

/** The events of a run. */
export function unpackRun(run: PackedRun): AnySessionEvent[] {
  const events: AnySessionEvent[] = []
  unpackRunInto(run, 0, Number.MAX_SAFE_INTEGER, events)
  return events
}

/** Adds the events of a run with seqs in `[from, to]` to `events`. Returns the time of its last event, in range or not. */
export function unpackRunInto(
  { seq, time, run, dt, v }: PackedRun,
  from: number,
  to: number,
  events: { push(event: AnySessionEvent): unknown },
): number {
  const data = dataMaker(run)
  let now = time
  for (let at = 0; at < v.length; at++) {
    if (at > 0) now += dt[at - 1] ?? 0
    if (seq + at < from || seq + at > to) continue
    events.push({ seq: seq + at, time: now, type: 'assistant/chunk', data: data(v[at] ?? '') })
  }
  return now
}

/** One object literal for each shape: a replay makes millions of these. */
function dataMaker(run: RunBlock): (text: string) => Delta {
  const { turn, step, kind, index } = run
  if (kind !== 'tool-arguments') return (text) => ({ turn, step, kind, index, text })
  const { callId, name } = run
  if (name === undefined) return (text) => ({ turn, step, kind, index, callId, text })
  return (text) => ({ turn, step, kind, index, callId, name, text })
}

/**
 * A parsed record as a packed run, the same object. CORRUPT, with the seq where known, when it is not one exactly:
 * keys, types, lengths, limits, times that are integers, and `expectedSeq` when one is given.
 */
export function decodePackedRun(json: unknown, expectedSeq?: number): PackedRun {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw corrupt(expectedSeq, 'not an object')
  const { seq, time, run, dt, v } = json as { readonly [key: string]: unknown }
  if (!isSeq(seq)) throw corrupt(expectedSeq, 'its seq')
  if (expectedSeq !== undefined && seq !== expectedSeq) throw corrupt(expectedSeq, `it has seq ${seq}`, seq)
  if (Object.keys(json).length !== 5) throw corrupt(seq, 'its keys')
  if (!Number.isSafeInteger(time)) throw corrupt(seq, 'its time')
  if (!isRunBlock(run)) throw corrupt(seq, 'its block')
  if (!Array.isArray(v) || v.length < 1 || v.length > LIMITS.runEvents) throw corrupt(seq, 'its number of texts')
  if (!isSeq(seq + (v.length - 1))) throw corrupt(seq, 'its last seq')
  if (!Array.isArray(dt) || dt.length !== v.length - 1) throw corrupt(seq, 'its number of time gaps')
  checkTimes(seq, time as number, dt)
  checkTexts(seq, v)
  return json as PackedRun
}

function isRunBlock(run: unknown): run is RunBlock {
  if (typeof run !== 'object' || run === null) return false
  const { turn, step, kind, index, callId, name } = run as { readonly [key: string]: unknown }
  if (!isPositive(turn) || !isPositive(step) || !isSeq(index)) return false
  const count = Object.keys(run).length
  if (kind === 'text' || kind === 'reasoning') return count === 4
  if (kind !== 'tool-arguments' || typeof callId !== 'string') return false
  return name === undefined ? count === 5 : typeof name === 'string' && count === 6
}

function checkTimes(seq: number, first: number, dt: readonly unknown[]): void {
  let time = first
  for (const gap of dt) {
    if (!Number.isSafeInteger(gap)) throw corrupt(seq, 'a time gap')
    time += gap as number
    if (!Number.isSafeInteger(time)) throw corrupt(seq, 'a time')
  }
}

function checkTexts(seq: number, texts: readonly unknown[]): void {
  let units = 0
  for (const text of texts) {
    if (typeof text !== 'string') throw corrupt(seq, 'a text')
    units += text.length
  }
  if (units * UNIT_BYTES_MAX <= LIMITS.runBytes) return
  const bytes = texts.reduce<number>((sum, text) => sum + Buffer.byteLength(text as string, 'utf8'), 0)
  if (bytes > LIMITS.runBytes) throw corrupt(seq, `it exceeds the limit runBytes (${LIMITS.runBytes})`)
}

function isSeq(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isPositive(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

function corrupt(seq: number | undefined, what: string, found?: number): SessionError {
  const where = seq === undefined ? 'A packed run' : `The packed run at seq ${seq}`
  return new SessionError('CORRUPT', `${where} is damaged: ${what}`, {
    ...(seq === undefined ? {} : { seq, expected: seq }),
    ...(found === undefined ? {} : { found }),
  })
}
