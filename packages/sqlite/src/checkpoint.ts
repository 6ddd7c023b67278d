/** Moves what the write-ahead log holds into the database. Does nothing in the other journal mode. */
import { SessionError } from '@session-persistence/core'
import type { Connection } from './connection.ts'

/**
 * Pages in the log at which it is moved: 250 keeps a commit at the cost of a bare write and sync, where a log that
 * grows costs twice that (goals.md, findings).
 */
export const CHECKPOINT_PAGES = 250

/** Moves what no reader holds back. Throws only for I/O errors. */
export function checkpointPassively(connection: Connection): void {
  connection.row('PRAGMA wal_checkpoint(PASSIVE)')
}

/**
 * Everything in the log becomes part of the database, synced, and the log is emptied; BUSY otherwise. What a process
 * left behind whose sync failed may look stored and be on no disk: nothing may be appended to such a log.
 */
export function checkpointFully(connection: Connection): void {
  const busy = connection.row('PRAGMA wal_checkpoint(TRUNCATE)')?.[0]
  if (busy === 0) return
  throw new SessionError('BUSY', `the write-ahead log is in use by others: ${connection.path}`, {
    path: connection.path,
  })
}
