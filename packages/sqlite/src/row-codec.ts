/**
 * Events as rows of the `record` table and back; pure (docs/formats/sqlite.md, Records). A row is one event, or one
 * packed run: then `events` is their number and `data` is the run without its seq and time.
 */
import {
  type AnySessionEvent,
  decodeEvent,
  decodePackedRun,
  type ElidedChunks,
  isPackedRun,
  isSessionError,
  LIMITS,
  type PackedRun,
  packRuns,
  SessionError,
  unpackRun,
  unpackRunInto,
} from '@session-persistence/core'
import type { Row } from './connection.ts'
import type { StoredText } from './joined-texts.ts'
import { recordCrc } from './row-checksum.ts'

/**
 * Events of one run row. The `events` view adds up the time gaps before each event, so its cost grows with the square
 * of this, and the size of the database no longer falls beyond it (docs/decisions/0005-sqlite-layout.md).
 */
const RUN_ROW_EVENTS_MAX = 128

/** Fewer are stored as events: a row with `events` of 1 is never a run. */
const RUN_ROW_EVENTS_MIN = 3

/** What `key % SEQ_SPAN` is: the seq of a row's first event. */
export const SEQ_SPAN: number = 2 ** 32

export const CHUNK = 'assistant/chunk'

/** `run`, `dt` and `v`: what `data` of a run has; its seq and time are columns. */
const PIECE_KEYS = 3

interface RowColumns {
  readonly seq: number
  readonly time: number
  /** JSON-escaped, so that it is well-formed text without U+0000: almost always the type itself. */
  readonly type: string
  readonly events: number
  readonly extra: string | null
}

/** As it is written. */
export interface RecordRow extends RowColumns {
  readonly data: string
}

/** As it was read, with types and checksum right. */
export interface VerifiedRow extends RowColumns {
  readonly data: StoredText
  readonly damage?: undefined
}

/** The rows that hold these events, in order; runs are packed. */
export function encodeRows(events: readonly AnySessionEvent[]): readonly RecordRow[] {
  const rows: RecordRow[] = []
  for (const record of packRuns(events)) {
    if (isPackedRun(record)) pushRun(rows, record)
    else rows.push(eventRow(record))
  }
  return rows
}

/** Of types that are the inside of a JSON string as they are; almost all. */
const PLAIN_TYPE = /^[\w/.-]+$/

function eventRow({ seq, time, type, data, ignorable, surface, sources }: AnySessionEvent): RecordRow {
  const hasExtra = ignorable !== undefined || surface !== undefined || sources !== undefined
  return {
    seq,
    time,
    type: PLAIN_TYPE.test(type) ? type : JSON.stringify(type).slice(1, -1),
    events: 1,
    data: JSON.stringify(data),
    extra: hasExtra ? JSON.stringify({ ignorable, surface, sources }) : null,
  }
}

function pushRun(rows: RecordRow[], record: PackedRun): void {
  const { seq, run, dt, v } = record
  let { time } = record
  for (let start = 0; start < v.length; start += RUN_ROW_EVENTS_MAX) {
    const end = Math.min(v.length, start + RUN_ROW_EVENTS_MAX)
    const piece = { run, dt: dt.slice(start, end - 1), v: v.slice(start, end) }
    const events = end - start
    if (events < RUN_ROW_EVENTS_MIN) {
      for (const event of unpackRun({ seq: seq + start, time, ...piece })) rows.push(eventRow(event))
    } else {
      rows.push({ seq: seq + start, time, type: CHUNK, events, data: JSON.stringify(piece), extra: null })
    }
    for (let at = start; at < end; at++) time += dt[at] ?? 0
  }
}

/**
 * A stored row whose types and checksum are right; CORRUPT, with the seq, otherwise. `data` is what the column of that
 * name holds: undefined when that is no text.
 */
export function verifyRow(row: Row, data: StoredText | undefined, salt: number): VerifiedRow {
  const [key, time, type, events, , extra, crc] = row
  const seq = typeof key === 'number' ? key % SEQ_SPAN : undefined
  // A flipped bit can turn TEXT into BLOB with the very same bytes: the checksum alone would not see it.
  const isTyped =
    Number.isSafeInteger(time) &&
    typeof type === 'string' &&
    Number.isSafeInteger(events) &&
    (extra === null || typeof extra === 'string')
  if (seq === undefined || data === undefined || !isTyped) throw damaged(seq, 'a column has the wrong type')
  const verified = { seq, time, type, events, data, extra } as VerifiedRow
  if (recordCrc(verified, data.bytes, salt) !== crc) throw damaged(seq, 'its checksum is wrong')
  if (!data.isUtf8()) throw damaged(seq, 'it is not UTF-8')
  if (data.bytes.length > LIMITS.eventBytes) throw damaged(seq, 'it is longer than an event may be')
  if (verified.events < 1 || verified.events > LIMITS.runEvents) {
    throw damaged(seq, 'its number of events is impossible')
  }
  return verified
}

/** The events of a verified row; CORRUPT when it holds none, which only a forged one does. */
export function rowEvents(row: VerifiedRow): readonly AnySessionEvent[] {
  const events: AnySessionEvent[] = []
  takeRowEvents(row, 0, Number.MAX_SAFE_INTEGER, events)
  return events
}

/** Adds those with seqs in `[from, to]` to `events`; CORRUPT as {@link rowEvents}, wherever in the row. */
export function takeRowEvents(
  row: VerifiedRow,
  from: number,
  to: number,
  events: { push(event: AnySessionEvent): unknown },
): void {
  if (row.events === 1) {
    const event = rowEvent(row)
    if (row.seq >= from && row.seq <= to) events.push(event)
    return
  }
  const piece = parseData(row)
  if (!isPiece(piece)) throw damaged(row.seq, 'it is not a run')
  // Key by key: to spread the piece costs more than to check it.
  const run = decodePackedRun({ seq: row.seq, time: row.time, run: piece.run, dt: piece.dt, v: piece.v }, row.seq)
  if (run.v.length !== row.events || row.type !== CHUNK || row.extra !== null) throw damaged(row.seq, 'it is not a run')
  unpackRunInto(run, from, to, events)
}

function isPiece(value: unknown): value is { readonly [Key in 'run' | 'dt' | 'v']: unknown } {
  if (typeof value !== 'object' || value === null) return false
  return 'run' in value && 'dt' in value && 'v' in value && Object.keys(value).length === PIECE_KEYS
}

function rowEvent(row: VerifiedRow): AnySessionEvent {
  const { length } = row.data.bytes
  const type = row.type.includes('\\') ? parse(row, `"${row.type}"`) : row.type
  const event = { seq: row.seq, time: row.time, type, data: parseData(row) }
  if (row.extra === null) return decodeEvent(event, row.seq, length)
  const extra = parse(row, row.extra)
  if (typeof extra !== 'object' || extra === null || Object.keys(extra).some((name) => Object.hasOwn(event, name))) {
    throw damaged(row.seq, 'its envelope is not an object')
  }
  return decodeEvent({ ...event, ...extra }, row.seq, length + row.extra.length)
}

/** `data` of every chunk that a harness wrote in the documented key order, packed or not. */
const PLACE = /^\{(?:"run":\{)?"turn":([1-9]\d{0,8}),"step":([1-9]\d{0,8})[,}]/

/** As long as that is at most. */
const PLACE_BYTES_MAX = 48

/** A verified row of chunks without its content; undefined when its place cannot be told without decoding. */
export function elideRow({ seq, type, events, data, extra }: VerifiedRow): ElidedChunks | undefined {
  if (type !== CHUNK || extra !== null) return undefined
  const place = PLACE.exec(data.bytes.toString('latin1', 0, PLACE_BYTES_MAX))
  return place === null
    ? undefined
    : { elided: CHUNK, seq, count: events, turn: Number(place[1]), step: Number(place[2]) }
}

function parseData({ seq, data }: VerifiedRow): unknown {
  try {
    return data.value()
  } catch {
    throw notJson(seq)
  }
}

function parse({ seq }: VerifiedRow, json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw notJson(seq)
  }
}

/** Not the parser's own message: it quotes the text. */
function notJson(seq: number): SessionError {
  return damaged(seq, 'it is not JSON')
}

function damaged(seq: number | undefined, what: string): SessionError {
  const where = seq === undefined ? 'a record' : `the record at seq ${seq}`
  return new SessionError('CORRUPT', `${where} is damaged: ${what}`, seq === undefined ? {} : { seq })
}

export function isDamage(error: unknown): error is SessionError {
  return isSessionError(error, 'CORRUPT')
}
