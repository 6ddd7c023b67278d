/** A page of stored sessions without any index: the whole table is read, and sorted here. */
import {
  compareListKeys,
  isAfterListKey,
  matchesListQuery,
  SessionError,
  type StorageListEntry,
  type StorageListQuery,
} from '@session-persistence/core'
import type { Connection, Row } from './connection.ts'
import { lostRows } from './damaged-index.ts'
import type { Database } from './database.ts'
import { describe, type ListedSession, LockOwners, nameOf, PLACE, SLICE, scan, withState } from './listed-session.ts'
import { decodeSessionRow, LIVE } from './session-row.ts'

/** For a damaged index: that hides no session. */
export async function listByTable(database: Database, query: StorageListQuery): Promise<readonly StorageListEntry[]> {
  const owners = new LockOwners(database.file.locks)
  let entries: StorageListEntry[] = []
  const shrink = (): void => {
    entries = entries.sort(compareListKeys).slice(0, query.limit)
  }
  const add = (session: ListedSession): void => {
    const entry = withState(session, owners)
    if (isAfterListKey(entry, query.after) && matchesListQuery(entry, query)) entries.push(entry)
    if (entries.length > 2 * query.limit + SLICE) shrink()
  }
  await scan(database, query.signal, (connection, row) => {
    const live = asLive(row)
    if (live !== undefined) add(describe(connection, live, nameOf(live)))
  })
  const lost = await database.read((connection) =>
    lostRows(connection).map((id) => ({ id, bytes: 0, error: rowLost(connection) })),
  )
  for (const session of lost ?? []) add(session)
  shrink()
  return entries
}

/** The row of a live session, undefined for any other: one whose place alone is damaged is live too, and damaged. */
function asLive(row: Row): Row | undefined {
  if (row[PLACE] === LIVE) return row
  try {
    decodeSessionRow(row)
    return undefined
  } catch {
    // Only the original proves the checksum.
  }
  try {
    decodeSessionRow(row.with(PLACE, LIVE))
    return row
  } catch {
    return undefined
  }
}

function rowLost({ path }: Connection): SessionError {
  return new SessionError('CORRUPT', `the row of the session is missing: ${path}`, { path })
}
