/**
 * Whether the next append would go through. A page can be damaged where only a write looks (its list of free space): every
 * session reads as before, and none can be continued.
 */
import { type AnySessionEvent, isSessionError, type SessionError } from '@session-persistence/core'
import { appendRecords } from './append-batch.ts'
import type { Connection } from './connection.ts'
import { findRow } from './session-statements.ts'
import { sqliteError } from './sqlite-error.ts'
import { storableRows } from './storable-rows.ts'

/**
 * Where damage lies in what another session has on the last page of this one, only a page that fills up meets it, and which
 * cells move then depends on how long the new ones are. All are below what is compressed.
 */
const TRIALS = [1, 4, 40].map((words) => 'a title of some words, '.repeat(words))
/** More than a page holds of the shortest. */
const EVENTS = 96

/**
 * Appends some pages of events to the session and takes them back, on a connection that can write. The CORRUPT that it met;
 * undefined when there was none, or no such session.
 */
export function refusedAppend(connection: Connection, id: string): SessionError | undefined {
  for (const title of TRIALS) {
    const refusal = refusedTrial(connection, id, title)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

function refusedTrial(connection: Connection, id: string, title: string): SessionError | undefined {
  connection.run('BEGIN IMMEDIATE')
  try {
    const row = findRow(connection, id)
    if (row === undefined) return undefined
    // As new as they would be: listings are ordered by time.
    const time = Math.max(Date.now(), row.updatedAt)
    const events = Array.from({ length: EVENTS }, (_, place): AnySessionEvent => {
      return { seq: row.nextSeq + place, time, type: 'session/title', data: { title } }
    })
    appendRecords(connection, row, { events, stored: storableRows(events) }, 'discard')
    return undefined
  } catch (error) {
    const refusal = sqliteError(error, 'append to the session', connection.path)
    if (isSessionError(refusal, 'CORRUPT')) return refusal
    throw error
  } finally {
    if (connection.inTransaction) connection.run('ROLLBACK')
  }
}
