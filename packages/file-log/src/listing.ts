/**
 * One page of stored sessions (contract family LIST). Reads the header and the end of every log, nothing between, with
 * synchronous calls in short slices: a hop through the thread pool for each would cost five times as much.
 */
import {
  compareListKeys,
  isAfterListKey,
  isSessionError,
  matchesListQuery,
  type StorageListEntry,
  type StorageListQuery,
  type StoredState,
} from '@session-persistence/core'
import type { DirectoryEntry, FileSystem } from './file-system.ts'
import { ioError, isMissing } from './io-error.ts'
import { type ListingPlace, type ListRow, RowReader } from './list-row.ts'
import { describeOwner, mayBeAlive, readLockOwner } from './writer-lock.ts'

/** Longest time that the event loop is held, in milliseconds. */
const SLICE_MS = 4
/** Sessions between two looks at the clock. */
const CLOCK_EVERY = 16

export async function listLogs(place: ListingPlace, query: StorageListQuery): Promise<readonly StorageListEntry[]> {
  query.signal?.throwIfAborted()
  const reader = new RowReader(place)
  const rows = await readRows(place, reader, query)
  const locked = lockNames(place)
  rows.sort(compareListKeys)
  const entries: StorageListEntry[] = []
  for (const row of rows) {
    if (entries.length >= query.limit) break
    const entry = toEntry(place, reader, row, locked)
    if (entry !== undefined && matchesListQuery(entry, query)) entries.push(entry)
  }
  return entries
}

async function readRows(place: ListingPlace, reader: RowReader, query: StorageListQuery): Promise<ListRow[]> {
  const rows: ListRow[] = []
  let sliceEnd = performance.now() + SLICE_MS
  let seenSessions = 0
  for (const { name, kind } of entriesOf(place.fs, place.layout.root)) {
    if (kind !== 'directory' && kind !== 'symlink') continue
    const seen = kind === 'directory' ? reader.glance(name) : 'look'
    const row = seen === 'look' ? await reader.look(name) : seen
    if (row !== undefined && row !== 'skip' && isAfterListKey(row, query.after)) rows.push(row)
    if (++seenSessions % CLOCK_EVERY !== 0 || performance.now() < sliceEnd) continue
    await new Promise(setImmediate)
    query.signal?.throwIfAborted()
    sliceEnd = performance.now() + SLICE_MS
  }
  return rows
}

/** Entries of a directory; none when there is no such directory. */
function entriesOf(fs: FileSystem, path: string): readonly DirectoryEntry[] {
  try {
    return fs.readDirectorySync(path)
  } catch (error) {
    if (isMissing(error)) return []
    throw ioError(error, 'list a directory', path)
  }
}

/** Names of locks. Who holds one is a hint, and a listing goes on without: what is no directory of locks holds none. */
function lockNames({ fs, layout }: ListingPlace): ReadonlySet<string> {
  try {
    if (fs.lstatSync(layout.locks).kind !== 'directory') return new Set()
    return new Set(fs.readDirectorySync(layout.locks).map(({ name }) => name))
  } catch {
    return new Set()
  }
}

/** Undefined when the session was deleted meanwhile. */
function toEntry(
  { fs, layout }: ListingPlace,
  reader: RowReader,
  row: ListRow,
  locked: ReadonlySet<string>,
): StorageListEntry | undefined {
  const { id, bytes } = row
  const found = row.error ?? reader.shown(row)
  if (found === undefined) return undefined
  if (isSessionError(found)) {
    return { id, state: found.code === 'UNSUPPORTED_VERSION' ? 'newer' : 'damaged', bytes, error: found }
  }
  const owner = locked.has(row.name) ? readLockOwner(fs, layout.locks, row.name) : undefined
  const open = owner !== undefined && mayBeAlive(owner)
  const state: StoredState = open ? 'open' : 'ready'
  return {
    id,
    state,
    bytes,
    ...found,
    ...(open ? { owner: describeOwner(owner) } : {}),
    ...(row.events === undefined ? {} : { events: row.events }),
    ...(row.updatedAt === undefined ? {} : { updatedAt: row.updatedAt }),
  }
}
