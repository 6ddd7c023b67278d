/**
 * One page of stored sessions (contract family LIST). An index gives the order; each row on the page is then read from
 * its table and verified, so that a damaged index or row shows, and hides no other.
 */
import {
  compareListKeys,
  isAfterListKey,
  isSessionError,
  matchesListQuery,
  type StorageListEntry,
  type StorageListKey,
  type StorageListQuery,
} from '@session-persistence/core'
import type { Connection, Row } from './connection.ts'
import type { Database } from './database.ts'
import { nextTurn } from './group-commit.ts'
import { describe, type ListedSession, LockOwners, nameOf, PLACE, SLICE, scan, withState } from './listed-session.ts'
import { listByTable } from './listing-by-table.ts'
import { decodeId, encodeId, LIVE, SESSION_COLUMNS } from './session-row.ts'
import { indexDamaged } from './session-statements.ts'

export async function listSessions(database: Database, query: StorageListQuery): Promise<readonly StorageListEntry[]> {
  let listed: readonly StorageListEntry[] | 'incomplete'
  try {
    listed = await listByIndex(database, query)
  } catch (error) {
    if (!isSessionError(error, 'CORRUPT')) throw error
    listed = await listByTable(database, query)
  }
  if (listed !== 'incomplete') return listed
  if (query.after === undefined) return await listByTable(database, query)
  // What was left out may belong on a page that was given already.
  throw indexDamaged({ path: database.file.given })
}

/** `incomplete` when the index leaves sessions out. CORRUPT when it, or a page of the table, is damaged. */
async function listByIndex(
  database: Database,
  query: StorageListQuery,
): Promise<readonly StorageListEntry[] | 'incomplete'> {
  query.signal?.throwIfAborted()
  const owners = new LockOwners(database.file.locks)
  const entries: StorageListEntry[] = []
  const add = (session: ListedSession): void => {
    const entry = withState(session, owners)
    if (entries.length < query.limit && matchesListQuery(entry, query)) entries.push(entry)
  }
  const { after } = query
  if (after === undefined || after.updatedAt !== undefined) {
    // Most of what is looked at is shown, unless a filter leaves much out: then the next look takes a whole slice.
    for await (const session of intactSessions(database, after, Math.min(SLICE, query.limit))) {
      query.signal?.throwIfAborted()
      add(session)
      if (entries.length >= query.limit) return entries
    }
  }
  const damaged = await damagedSessions(database, query.signal)
  if (damaged === 'incomplete') return damaged
  for (const session of damaged.sort(compareListKeys)) if (isAfterListKey(session, after)) add(session)
  return entries
}

/** In the order of the listing, from behind a key. */
async function* intactSessions(
  database: Database,
  after: StorageListKey | undefined,
  first: number,
): AsyncGenerator<ListedSession, void, undefined> {
  let key = after
  for (let count = first; ; count = SLICE) {
    const slice = await database.read((connection) => {
      const entries = indexSlice(connection, key, count)
      requireOrder(connection, key, entries)
      return entries.map((entry) => ({ ...entry, session: lookUp(connection, entry) }))
    })
    for (const { session } of slice ?? []) if (session !== undefined && session.error === undefined) yield session
    const last = slice?.at(-1)
    if (slice === undefined || last === undefined || slice.length < count) return
    key = last
    await nextTurn()
  }
}

interface IndexEntry {
  readonly updatedAt: number
  readonly id: string
  readonly number: number
}

/** Times that no event can have, which only a damaged row holds, are not for the cursor: see {@link damagedSessions}. */
const IS_TIME = 'updated_at BETWEEN -9007199254740991 AND 9007199254740991'
const INDEXED = `SELECT updated_at, id, number FROM session INDEXED BY session_by_time WHERE place = '' AND ${IS_TIME}`
const ORDER = 'ORDER BY updated_at DESC, id LIMIT ?'

/** Two range scans: an OR of the two would be sorted on disk. */
function indexSlice(connection: Connection, after: StorageListKey | undefined, count: number): readonly IndexEntry[] {
  if (after?.updatedAt === undefined) return connection.all(`${INDEXED} ${ORDER}`, count).map(toIndexEntry(connection))
  const { updatedAt, id } = after
  const equal = connection.all(`${INDEXED} AND updated_at = ? AND id > ? ${ORDER}`, updatedAt, encodeId(id), count)
  const left = count - equal.length
  const older = left === 0 ? [] : connection.all(`${INDEXED} AND updated_at < ? ${ORDER}`, updatedAt, left)
  return [...equal, ...older].map(toIndexEntry(connection))
}

/** One flipped bit in the file's header makes SQLite take the index for one that ascends. */
function requireOrder(connection: Connection, after: StorageListKey | undefined, entries: readonly IndexEntry[]): void {
  let previous = after
  for (const entry of entries) {
    if (previous !== undefined && compareListKeys(previous, entry) >= 0) throw indexDamaged(connection)
    previous = entry
  }
}

function toIndexEntry(connection: Connection): (row: Row) => IndexEntry {
  return ([updatedAt, key, number]) => {
    const id = decodeId(key)
    if (id === undefined || !Number.isSafeInteger(updatedAt) || !Number.isSafeInteger(number)) {
      throw indexDamaged(connection)
    }
    return { updatedAt: updatedAt as number, id, number: number as number }
  }
}

/** The session that an index entry stands for; undefined when it was deleted between the two looks. */
function lookUp(connection: Connection, entry: IndexEntry): ListedSession | undefined {
  const stored = connection.row(`SELECT ${SESSION_COLUMNS} FROM session WHERE number = ?`, entry.number)
  if (stored === undefined) throw indexDamaged(connection)
  const session = describe(connection, stored, entry.id)
  const differs = session.id !== entry.id || session.updatedAt !== entry.updatedAt
  if (session.error === undefined && differs) throw indexDamaged(connection)
  return session
}

/** All damaged and newer sessions. Also proves that the index left none out. */
async function damagedSessions(
  database: Database,
  signal: AbortSignal | undefined,
): Promise<ListedSession[] | 'incomplete'> {
  const found: ListedSession[] = []
  const look = (connection: Connection, row: Row): void => {
    if (row[PLACE] !== LIVE) return
    const session = describe(connection, row, nameOf(row))
    if (session.error !== undefined) found.push(session)
  }
  let isComplete = true
  await scan(database, signal, look, (connection) => {
    isComplete = isIndexComplete(connection)
  })
  return isComplete ? found : 'incomplete'
}

function isIndexComplete(connection: Connection): boolean {
  const counted = (from: string): string =>
    `SELECT count(*) AS rows, total(${IS_TIME}) AS times FROM session ${from} WHERE place = ''`
  const [rows, times, indexed, indexedTimes] =
    connection.row(
      `SELECT t.rows, t.times, i.rows, i.times FROM (${counted('NOT INDEXED')}) AS t, (${counted('INDEXED BY session_by_time')}) AS i`,
    ) ?? []
  return rows === indexed && times === indexedTimes
}
