/**
 * One page of stored sessions (contract family LIST). An index gives the order; each row on the page is then read from
 * its table and verified, so that a damaged index or row shows, and hides no other.
 */
import {
  compareListKeys,
  isAfterListKey,
  isSessionError,
  matchesListQuery,
  SessionError,
  type StorageListEntry,
  type StorageListKey,
  type StorageListQuery,
} from '@session-persistence/core'
import {
  describeOwner,
  encodeSessionName,
  mayBeAlive,
  nodeFileSystem,
  readLockOwner,
} from '@session-persistence/file-log'
import type { Connection, Row } from './connection.ts'
import { lostRows } from './damaged-index.ts'
import type { Database } from './database.ts'
import { nextTurn } from './group-commit.ts'
import { decodeId, decodeSessionRow, encodeId, LIVE, SESSION_COLUMNS, type SessionRow } from './session-row.ts'
import { headerOf, indexDamaged } from './session-statements.ts'

/** Sessions looked at in one go: 2 to 4 ms. */
const SLICE = 200

/** Of `SESSION_COLUMNS`. */
const PLACE = 2

type ListedSession = Pick<StorageListEntry, 'id' | 'header' | 'events' | 'updatedAt' | 'bytes' | 'error'>

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

/** The same, sorted here, where an index is damaged: that hides no session. */
async function listByTable(database: Database, query: StorageListQuery): Promise<readonly StorageListEntry[]> {
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

/** A row of the table, verified; `fallback` names a damaged one. */
function describe(connection: Connection, stored: Row, fallback: string): ListedSession {
  let row: SessionRow | undefined
  try {
    row = decodeSessionRow(stored)
    const header = headerOf(connection, row)
    return { id: row.id, header, events: row.nextSeq, updatedAt: row.updatedAt, bytes: row.bytes }
  } catch (error) {
    if (!isSessionError(error)) throw error
    const { path } = connection
    return {
      id: row?.id ?? fallback,
      bytes: row?.bytes ?? 0,
      error: new SessionError(error.code, error.message, { ...error, path, cause: error.cause }),
    }
  }
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

/** Every row of the table, a slice at a time; `end` sees what the last slice saw. */
async function scan(
  database: Database,
  signal: AbortSignal | undefined,
  look: (connection: Connection, row: Row) => void,
  end: (connection: Connection) => void = () => {},
): Promise<void> {
  let last = 0
  for (;;) {
    signal?.throwIfAborted()
    const slice = await database.read((connection) => {
      const sql = `SELECT ${SESSION_COLUMNS} FROM session NOT INDEXED WHERE number > ? ORDER BY number LIMIT ?`
      const rows = connection.all(sql, last, SLICE)
      for (const row of rows) look(connection, row)
      if (rows.length < SLICE) end(connection)
      return rows
    })
    if (slice === undefined || slice.length < SLICE) return
    last = Number(slice.at(-1)?.[0])
    await nextTurn()
  }
}

/** Of a row that may be damaged. */
function nameOf(row: Row): string {
  return decodeId(row[1]) ?? `(unreadable, session number ${String(row[0])})`
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

function withState(session: ListedSession, owners: LockOwners): StorageListEntry {
  const { error } = session
  if (error !== undefined) return { ...session, state: error.code === 'UNSUPPORTED_VERSION' ? 'newer' : 'damaged' }
  const owner = owners.of(session.id)
  return owner === undefined ? { ...session, state: 'ready' } : { ...session, state: 'open', owner }
}

/** Who seems to write, from the names in the lock directory: read once, since most sessions have no lock. */
class LockOwners {
  readonly #locks: string
  readonly #names: ReadonlySet<string>

  constructor(locks: string) {
    this.#locks = locks
    this.#names = new Set(namesIn(locks))
  }

  of(id: string): string | undefined {
    if (this.#names.size === 0) return undefined
    const name = encodeSessionName(id)
    const owner = this.#names.has(name) ? readLockOwner(nodeFileSystem, this.#locks, name) : undefined
    return owner !== undefined && mayBeAlive(owner) ? describeOwner(owner) : undefined
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return nodeFileSystem.readDirectorySync(directory).map(({ name }) => name)
  } catch {
    // Only a hint for people.
    return []
  }
}
