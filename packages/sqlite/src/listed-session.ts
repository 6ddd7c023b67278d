/** A stored session as a listing shows it: verified, with who seems to write it, or with what is wrong with it. */
import { isSessionError, SessionError, type StorageListEntry } from '@session-persistence/core'
import {
  describeOwner,
  encodeSessionName,
  mayBeAlive,
  nodeFileSystem,
  readLockOwner,
} from '@session-persistence/file-log'
import type { Connection, Row } from './connection.ts'
import type { Database } from './database.ts'
import { nextTurn } from './group-commit.ts'
import { decodeId, decodeSessionRow, SESSION_COLUMNS, type SessionRow } from './session-row.ts'
import { headerOf } from './session-statements.ts'

/** Sessions looked at in one go: 2 to 4 ms. */
export const SLICE = 200

/** Of `SESSION_COLUMNS`. */
export const PLACE = 2

export type ListedSession = Pick<StorageListEntry, 'id' | 'header' | 'events' | 'updatedAt' | 'bytes' | 'error'>

/** A row of the table, verified; `fallback` names a damaged one. */
export function describe(connection: Connection, stored: Row, fallback: string): ListedSession {
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

/**
 * Every row of the table, a slice at a time; `end` sees what the last slice saw. The tree is walked from its first leaf on
 * and never searched: a damaged inner page leads a search past rows that a walk finds. CORRUPT when the walk did not meet
 * as many rows as there are.
 */
export async function scan(
  database: Database,
  signal: AbortSignal | undefined,
  look: (connection: Connection, row: Row) => void,
  end: (connection: Connection) => void = () => {},
): Promise<void> {
  let last = 0
  let met = 0
  let version: number | undefined
  for (let isLast = false; !isLast; ) {
    signal?.throwIfAborted()
    const slice = await database.read((connection) => {
      version ??= connection.number('PRAGMA data_version')
      // The sign keeps SQLite from searching for the number.
      const sql = `SELECT ${SESSION_COLUMNS} FROM session NOT INDEXED WHERE +number > ? LIMIT ?`
      const rows = connection.all(sql, last, SLICE)
      for (const row of rows) look(connection, row)
      met += rows.length
      if (rows.length < SLICE) {
        if (connection.number('PRAGMA data_version') === version) checkAllMet(connection, met)
        end(connection)
      }
      return rows
    })
    isLast = slice === undefined || slice.length < SLICE
    last = Number(slice?.at(-1)?.[0] ?? last)
    if (!isLast) await nextTurn()
  }
}

function checkAllMet(connection: Connection, met: number): void {
  if (connection.number('SELECT count(*) FROM session NOT INDEXED') === met) return
  const { path } = connection
  throw new SessionError('CORRUPT', `the session rows of the database are out of order: ${path}`, { path })
}

/** Of a row that may be damaged. */
export function nameOf(row: Row): string {
  return decodeId(row[1]) ?? `(unreadable, session number ${String(row[0])})`
}

export function withState(session: ListedSession, owners: LockOwners): StorageListEntry {
  const { error } = session
  if (error !== undefined) return { ...session, state: error.code === 'UNSUPPORTED_VERSION' ? 'newer' : 'damaged' }
  const owner = owners.of(session.id)
  return owner === undefined ? { ...session, state: 'ready' } : { ...session, state: 'open', owner }
}

/** Who seems to write, from the names in the lock directory: read once, since most sessions have no lock. */
export class LockOwners {
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
