/** A batch into the `record` table, inside a transaction: the next seq is checked there, before the first row. */
import { type AnySessionEvent, eventJson, SessionError, type SessionHeader } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import { readPage } from './log-page.ts'
import { SEQ_SPAN } from './row-codec.ts'
import type { SessionRow } from './session-row.ts'
import { deleteRecords, insertRecords, insertSession, moveEnd, rowOf, updateEnd } from './session-statements.ts'
import { sqliteCode } from './sqlite-error.ts'
import { type StorableRows, storableRows } from './storable-rows.ts'

export interface Batch {
  readonly events: readonly AnySessionEvent[]
  /** The same, encoded before the transaction began. */
  readonly stored: StorableRows
}

/**
 * Appends to a log that ended as `durable` says, and returns its new end. Stored events behind that end are of an
 * attempt whose outcome was unknown: `discard` removes them, after a failure of the medium; `compare` recognises the
 * batch when they are the same. CONFLICT when the log is another one, is shorter, or continues differently.
 */
export function appendRecords(
  connection: Connection,
  durable: SessionRow,
  batch: Batch,
  unknown: 'discard' | 'compare',
): SessionRow {
  const row = endAfter(durable, batch)
  // Changes nothing unless the row is exactly the one that this writer left.
  if (!moveEnd(connection, durable, row)) {
    const stored = requireSame(connection, durable)
    const first = durable.nextSeq
    if (stored.nextSeq < first) throw conflict(durable, stored.nextSeq, first)
    if (unknown === 'compare') return recognise(connection, stored, batch.events)
    deleteRecords(connection, durable.number, first, SEQ_SPAN - 1)
    updateEnd(connection, row)
  }
  return insertBatch(connection, durable, row, batch)
}

/** A new log with its first batch. CONFLICT where records stand that belong to no session. */
export function createWithRecords(
  connection: Connection,
  header: SessionHeader,
  place: Pick<SessionRow, 'place' | 'salt'>,
  batch: Batch,
): SessionRow {
  const row = insertSession(connection, header, place, (empty) => endAfter(empty, batch))
  return insertBatch(connection, { ...row, nextSeq: 0 }, row, batch)
}

function insertBatch(connection: Connection, durable: SessionRow, row: SessionRow, { stored }: Batch): SessionRow {
  try {
    insertRecords(connection, row, stored.rows)
  } catch (error) {
    // Nothing was behind the end when this writer took the log over: somebody else put it there.
    if (sqliteCode(error) === 'SQLITE_CONSTRAINT_PRIMARYKEY') throw occupied(durable, error)
    throw error
  }
  return row
}

function occupied({ id, nextSeq }: SessionRow, cause: unknown): SessionError {
  return new SessionError('CONFLICT', `somebody else stored records behind seq ${nextSeq - 1}`, {
    sessionId: id,
    seq: nextSeq,
    cause,
  })
}

/** CONFLICT for events that do not continue the log, INVARIANT for a gap between them, TOO_LARGE for a full log. */
function endAfter(durable: SessionRow, { events, stored }: Batch): SessionRow {
  const { number, id, place, salt, nextSeq: first, updatedAt, bytes } = durable
  let expected = first
  for (const { seq } of events) {
    if (seq === expected) {
      expected++
      continue
    }
    if (expected === first) throw conflict(durable, first, seq)
    throw new SessionError('INVARIANT', 'the events of a batch are not contiguous', { sessionId: id, seq })
  }
  if (first + events.length > SEQ_SPAN) {
    throw new SessionError('TOO_LARGE', `a session in a database holds at most ${SEQ_SPAN} events`, {
      sessionId: id,
      expected: SEQ_SPAN,
    })
  }
  // Field by field: to spread a row costs more than all the rest here.
  return {
    number,
    id,
    place,
    salt,
    nextSeq: first + events.length,
    updatedAt: events.at(-1)?.time ?? updatedAt,
    bytes: bytes + stored.bytes,
  }
}

function requireSame(connection: Connection, { number, id, place, salt }: SessionRow): SessionRow {
  const stored = rowOf(connection, number)
  if (stored?.id === id && stored.place === place && stored.salt === salt) return stored
  throw new SessionError('CONFLICT', 'the session was deleted or replaced', { sessionId: id })
}

/** What is stored behind the end must be what the batch begins with; the rest of the batch is appended. */
function recognise(connection: Connection, stored: SessionRow, events: readonly AnySessionEvent[]): SessionRow {
  const first = events[0]?.seq ?? stored.nextSeq
  const known = Math.min(events.length, stored.nextSeq - first)
  let compared = 0
  while (compared < known) {
    const range = { from: first + compared, to: first + known - 1, elideChunks: false }
    const page = readPage(connection, stored, range)
    for (const record of page.records) {
      const event = events[compared++]
      if (event === undefined || eventJson(record as AnySessionEvent) !== eventJson(event)) {
        throw conflict(stored, stored.nextSeq, first)
      }
    }
    if (page.damage !== undefined) throw page.damage
  }
  const rest = events.slice(known)
  return rest.length === 0
    ? stored
    : appendRecords(connection, stored, { events: rest, stored: storableRows(rest) }, 'compare')
}

function conflict({ id }: SessionRow, expected: number, found: number): SessionError {
  return new SessionError('CONFLICT', `the stored log goes on at seq ${expected}, the batch at ${found}`, {
    sessionId: id,
    seq: found,
    expected,
    found,
  })
}
