/** What a check says of the table that all sessions share, although the session itself is whole. */
import type { Connection } from './connection.ts'
import { isSoundTable } from './page-check.ts'

interface Looked {
  readonly version: number
  readonly notes: readonly string[]
}

const DAMAGED =
  'the table of sessions or an index of it is damaged, so that sessions may refuse what is appended: a repair, or compacting the database, tells'

/** A whole store is checked session by session, and the table is as long as the store. */
const looked = new WeakMap<Connection, Looked>()

/** Looked at once for each state of the database. */
export function sessionTableNotes(connection: Connection): readonly string[] {
  const version = connection.number('PRAGMA data_version')
  const before = looked.get(connection)
  if (before?.version === version) return before.notes
  const notes = isSoundTable(connection, 'session') ? [] : [DAMAGED]
  looked.set(connection, { version, notes })
  return notes
}
