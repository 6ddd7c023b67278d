/** What the owner of a database does now and then: a copy of it, and space given back. */
import { lstatSync } from 'node:fs'
import { isSessionError, SessionError } from '@session-persistence/core'
import type { Connection, JournalMode } from './connection.ts'
import { rebuildIndexes } from './damaged-index.ts'
import { BUSY_MS_DEFAULT, Database } from './database.ts'
import { DatabaseFile } from './database-file.ts'
import { mendDerived } from './derived-table.ts'
import { loadDriver } from './driver.ts'
import { checkPages, hasSoundTrees } from './page-check.ts'
import { sweepHidden } from './removal.ts'
import { repackSession } from './repack.ts'
import { SessionLocks } from './session-locks.ts'
import { decodeId } from './session-row.ts'
import { sqliteError } from './sqlite-error.ts'
import { vacuum } from './vacuum.ts'

export interface MaintenanceOptions {
  /** Path of the database. */
  readonly file: string
  /** As it is opened otherwise; default: the mode that it has. */
  readonly journal?: JournalMode
  /** Milliseconds that a call waits for a busy database before it rejects with BUSY, 0 to 60,000; default 5,000. */
  readonly busyMs?: number
}

export interface BackupReport {
  /** Path of the copy. */
  readonly file: string
  readonly bytes: number
}

/**
 * A copy of the whole database as it is now, also while sessions are being written: compact, complete without any
 * other file, 0600, synced, and there only when it is whole. Holds the event loop for as long as the copying takes.
 *
 * NOT_FOUND without a database; ALREADY_EXISTS when something is at `to`; CONFLICT when the log or journal of an earlier
 * database is beside `to`; INVALID_ARGUMENT when `to` is where this database keeps something; CORRUPT when the database
 * is damaged, and then there is no copy; NO_SPACE, READ_ONLY and the like of `to`.
 */
export async function backupSqlite(options: MaintenanceOptions & { readonly to: string }): Promise<BackupReport> {
  const { to, ...rest } = options
  return await withDatabase(rest, async (database) => {
    const target = new DatabaseFile(to)
    const suffix = database.file.claims(target)
    if (suffix !== undefined) {
      throw new SessionError('INVALID_ARGUMENT', `the database keeps its own ${suffix} there: ${to}`, { path: to })
    }
    const made = await database.readAlone((connection) => {
      requireSound(connection)
      try {
        return target.create((path) => connection.run('VACUUM INTO ?', path))
      } catch (error) {
        throw sqliteError(error, 'write the backup', to)
      }
    })
    if (made === false) throw new SessionError('ALREADY_EXISTS', `there is something already: ${to}`, { path: to })
    return { file: target.given, bytes: lstatSync(target.given).size }
  })
}

export interface CompactReport {
  /** Bytes of the database before and after. */
  readonly before: number
  readonly after: number
  /** Records that were merged into others. */
  readonly repacked: number
  /** Sessions left as they are because somebody writes them. */
  readonly open: number
  /** Sessions left as they are because they are damaged. */
  readonly damaged: number
}

/**
 * Gives space back: builds damaged indexes, a damaged table of snapshots and summaries, and a damaged list of free pages anew, removes what killed processes left, packs
 * runs of deltas that came one by one, and returns free pages to the file system. Events and receipts do not change. Sessions that are being written are left as they are.
 * Needs about the size of the database in free space, and holds the event loop during its last step.
 *
 * NOT_FOUND without a database; BUSY while others keep it busy; CORRUPT when it is damaged, with nothing changed.
 */
export async function compactSqlite(options: MaintenanceOptions): Promise<CompactReport> {
  return await withDatabase(options, async (database) => {
    const before = lstatSync(database.file.given).size
    await database.alone(mendDerived)
    const verdict = await database.alone(checkPages)
    if (verdict === 'damaged') await database.alone(rebuildIndexes)
    // Before anything is written, which would take pages from that list.
    if (verdict === 'free-list') await database.alone(vacuum)
    let repacked = 0
    let open = 0
    let damaged = 0
    const locks = new SessionLocks(database.file)
    for (const id of (await database.read(allIds)) ?? []) {
      try {
        repacked += await compactSession(database, locks, id)
      } catch (error) {
        if (isSessionError(error, 'LOCKED')) open++
        else if (isSessionError(error, 'CORRUPT')) damaged++
        else throw error
      }
    }
    await database.alone(vacuum)
    await database.settle()
    return { before, after: lstatSync(database.file.given).size, repacked, open, damaged }
  })
}

async function compactSession(database: Database, locks: SessionLocks, id: string): Promise<number> {
  const lock = await locks.acquire(id)
  try {
    await sweepHidden(database, id)
    return await repackSession(database, id)
  } finally {
    await lock.release()
  }
}

function allIds(connection: Connection): readonly string[] {
  const ids = connection.all('SELECT DISTINCT id FROM session').map(([key]) => decodeId(key))
  return ids.filter((id) => id !== undefined)
}

/** A copy of damaged pages would look sound: every row it lost would be gone for good. */
function requireSound(connection: Connection): void {
  if (hasSoundTrees(connection)) return
  throw new SessionError(
    'CORRUPT',
    `the database is damaged: compacting it builds indexes anew, and refuses where more is damaged: ${connection.path}`,
    { path: connection.path },
  )
}

async function withDatabase<T>(options: MaintenanceOptions, use: (database: Database) => Promise<T>): Promise<T> {
  const { file, journal, busyMs = BUSY_MS_DEFAULT } = options
  const database = new Database(loadDriver(), new DatabaseFile(file), { journal, busyMs })
  try {
    if ((await database.read(() => true)) === undefined) {
      throw new SessionError('NOT_FOUND', `there is no database: ${database.file.given}`, { path: database.file.given })
    }
    return await use(database)
  } finally {
    await database.close()
  }
}
