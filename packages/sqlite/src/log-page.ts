/** One page of a log, read in one go: bounded in events and bytes, and the damage that ended it, if any did. */
import { SessionError, type StoredRecord } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import { recordsFrom } from './record-rows.ts'
import { elideRow, isDamage, takeRowEvents } from './row-codec.ts'
import type { SessionRow } from './session-row.ts'
import { sqliteError } from './sqlite-error.ts'

const PAGE_RECORDS = 1024
/** Decoding a page holds the event loop: this much is decoded in 2 to 5 ms. */
const PAGE_BYTES = 256 * 1024

export interface LogPage {
  readonly records: StoredRecord[]
  /** Seqs that the page covers, from its first to before `end`; in reverse from before `end` down. */
  readonly end: number
  readonly damage?: SessionError
}

export interface PageRange {
  /** Inclusive. */
  readonly from: number
  /** Inclusive. */
  readonly to: number
  readonly elideChunks: boolean
}

/** The next page of `from` to `to`; a gap or a damaged record ends it. */
export function readPage(connection: Connection, session: SessionRow, range: PageRange): LogPage {
  const { from, to, elideChunks } = range
  const records: StoredRecord[] = []
  let next = from
  let bytes = 0
  try {
    for (const rows of recordsFrom(connection, session, range, { elideChunks })) {
      for (const row of rows) {
        if (row.damage !== undefined) throw row.damage
        // The first row may start before `from`, but must reach it.
        if (row.seq > next || row.seq + row.events <= next || (row.seq < next && next > from)) {
          return { records, end: next, damage: gap(next, connection.path, row.seq) }
        }
        const whole = row.seq >= from && row.seq + row.events - 1 <= to
        const elided = elideChunks && whole ? elideRow(row) : undefined
        if (elided === undefined) takeRowEvents(row, from, to, records)
        else records.push(elided)
        next = row.seq + row.events
        bytes += row.data.bytes.length
        if (next > to) return { records, end: next }
      }
      if (isFull(records, bytes)) return { records, end: next }
    }
  } catch (error) {
    return { records, end: next, damage: asDamage(error, next, connection.path) }
  }
  return { records, end: next, damage: gap(next, connection.path) }
}

/** The same from `to` down to `from`, newest first. */
export function readPageBackwards(connection: Connection, session: SessionRow, range: PageRange): LogPage {
  const { from, to } = range
  const records: StoredRecord[] = []
  let end = to + 1
  let bytes = 0
  try {
    for (const rows of recordsFrom(connection, session, range, { reverse: true })) {
      for (const row of rows) {
        if (row.damage !== undefined) throw row.damage
        if (row.seq + row.events < end || (end <= to && row.seq + row.events !== end)) {
          return { records, end, damage: gap(end - 1, connection.path, row.seq + row.events - 1) }
        }
        const events: StoredRecord[] = []
        takeRowEvents(row, from, to, events)
        for (let at = events.length - 1; at >= 0; at--) records.push(events[at] as StoredRecord)
        end = row.seq
        bytes += row.data.bytes.length
        if (end <= from) return { records, end }
      }
      if (isFull(records, bytes)) return { records, end }
    }
  } catch (error) {
    return { records, end, damage: asDamage(error, end - 1, connection.path) }
  }
  return { records, end, damage: gap(end - 1, connection.path) }
}

/** Asked between rows that are read together, never amid them. */
function isFull(records: readonly StoredRecord[], bytes: number): boolean {
  return records.length >= PAGE_RECORDS || bytes >= PAGE_BYTES
}

/** Damage of one record, or of the pages that hold it; anything else is thrown. */
function asDamage(error: unknown, seq: number, path: string): SessionError {
  const found = sqliteError(error, 'read a record', path)
  if (!isDamage(found)) throw error
  return new SessionError('CORRUPT', found.message, { ...found, seq: found.seq ?? seq, path, cause: found.cause })
}

/** `found` is the seq that stands there instead, if any. */
function gap(seq: number, path: string, found?: number): SessionError {
  return new SessionError('CORRUPT', `the record at seq ${seq} is missing: ${path}`, {
    seq,
    path,
    expected: seq,
    ...(found === undefined ? {} : { found }),
  })
}
