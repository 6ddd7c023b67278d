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

/** Takes no place in a log: as long as a short event is. */
const TRIAL = { type: 'session/title', data: { title: 'a title of some words' } } as const

/**
 * Appends an event to the session and takes it back, on a connection that can write. The CORRUPT that it met; undefined
 * when there was none, or no such session.
 */
export function refusedAppend(connection: Connection, id: string): SessionError | undefined {
  connection.run('BEGIN IMMEDIATE')
  try {
    const row = findRow(connection, id)
    if (row === undefined) return undefined
    // As new as it would be: listings are ordered by time.
    const event: AnySessionEvent = { ...TRIAL, seq: row.nextSeq, time: Math.max(Date.now(), row.updatedAt) }
    appendRecords(connection, row, { events: [event], stored: storableRows([event]) }, 'discard')
    return undefined
  } catch (error) {
    const refusal = sqliteError(error, 'append to the session', connection.path)
    if (isSessionError(refusal, 'CORRUPT')) return refusal
    throw error
  } finally {
    if (connection.inTransaction) connection.run('ROLLBACK')
  }
}
