/** What a check says of the table that all sessions share, although the session itself is whole. */
import { isSessionError } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import { isSoundTable } from './page-check.ts'
import { sqliteError } from './sqlite-error.ts'

interface Looked {
  readonly version: number
  readonly notes: readonly string[]
}

const DAMAGED =
  'the table of sessions or an index of it is damaged, so that sessions may refuse what is appended: a repair, or compacting the database, tells'

/** The look holds the event loop for a microsecond a session: of a larger store it is left to compacting. */
const SESSIONS_MAX = 100_000

/** A whole store is checked session by session, and the table is as long as the store. */
const looked = new WeakMap<Connection, Looked>()

/** Looked at once for each state of the database. */
export function sessionTableNotes(connection: Connection): readonly string[] {
  const version = connection.number('PRAGMA data_version')
  const before = looked.get(connection)
  if (before?.version === version) return before.notes
  const notes = seemsSound(connection) ? [] : [DAMAGED]
  looked.set(connection, { version, notes })
  return notes
}

function seemsSound(connection: Connection): boolean {
  try {
    const sessions = connection.number('SELECT coalesce(max(number), 0) FROM session')
    return sessions > SESSIONS_MAX || isSoundTable(connection, 'session')
  } catch (error) {
    if (isSessionError(sqliteError(error, 'check the pages', connection.path), 'CORRUPT')) return false
    throw error
  }
}
