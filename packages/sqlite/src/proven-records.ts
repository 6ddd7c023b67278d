/** What can be proven of a damaged log: records that verify under the salt of its row. */
import { type AnySessionEvent, isSessionError } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import { type FoundRow, recordsFrom } from './record-rows.ts'
import { rowEvents, SEQ_SPAN } from './row-codec.ts'
import { encodeId, LIVE } from './session-row.ts'
import { rowOf } from './session-statements.ts'

/** Events of one slice: proving them holds the event loop. */
const SLICE_EVENTS = 1000
/** Of texts: events may be large, and a slice is held as a whole. */
const SLICE_BYTES = 16 * 1024 * 1024

/** What a session's row says, unproven: records that verify under its salt prove that, and nothing else is used. */
export interface RawSession {
  readonly id: string
  readonly number: number
  readonly salt: number
  readonly header: unknown
  readonly headerCrc: unknown
  /** Number of events, where the row itself verifies. */
  readonly end: number | undefined
}

export function rawSession(connection: Connection, id: string): RawSession | undefined {
  const sql =
    'SELECT s.number, s.salt, h.header, h.crc FROM session AS s NOT INDEXED LEFT JOIN header AS h ON h.session = s.number WHERE s.id = ? AND s.place = ?'
  const [number, salt, header, headerCrc] = connection.row(sql, encodeId(id), LIVE) ?? []
  if (!Number.isSafeInteger(number) || !Number.isSafeInteger(salt)) return undefined
  return {
    id,
    number: number as number,
    salt: salt as number,
    header,
    headerCrc,
    end: endOf(connection, number as number),
  }
}

function endOf(connection: Connection, number: number): number | undefined {
  try {
    return rowOf(connection, number)?.nextSeq
  } catch (error) {
    if (isSessionError(error, 'CORRUPT')) return undefined
    throw error
  }
}

interface ProvenSlice {
  readonly events: readonly AnySessionEvent[]
  /** Where the next slice starts; undefined at the end. */
  readonly next: number | undefined
}

export function provenSlice(connection: Connection, number: number, salt: number, from: number): ProvenSlice {
  const events: AnySessionEvent[] = []
  let bytes = 0
  try {
    for (const rows of recordsFrom(connection, { number, salt }, { from, to: SEQ_SPAN - 1 })) {
      let next = from
      for (const row of rows) {
        bytes += row.damage === undefined ? row.data.bytes.length : 0
        for (const event of provenEvents(row)) if (event.seq >= from) events.push(event)
        next = Math.max(next, row.seq + 1, (events.at(-1)?.seq ?? 0) + 1)
      }
      if ((events.length >= SLICE_EVENTS || bytes >= SLICE_BYTES) && next > from) return { events, next }
    }
  } catch (error) {
    // Behind damaged pages nothing can be reached; what came before is proven all the same.
    if (isSessionError(error)) throw error
  }
  return { events, next: undefined }
}

function provenEvents(row: FoundRow): readonly AnySessionEvent[] {
  if (row.damage !== undefined) return []
  try {
    return rowEvents(row)
  } catch (error) {
    if (isSessionError(error, 'CORRUPT')) return []
    throw error
  }
}
