/** The storage port over one SQLite database (docs/formats/sqlite.md). */
import {
  type BackendDescription,
  checkSessionId,
  SessionError,
  type SessionStorage,
  type StorageCheck,
  type StorageListEntry,
  type StorageListQuery,
  type StorageReader,
  type StorageRepair,
  type StorageRepairOptions,
  type StorageWriter,
  type WriterIntent,
  withSessionId,
} from '@session-persistence/core'
import { checkSession } from './check-session.ts'
import type { JournalMode } from './connection.ts'
import { findToRead } from './damaged-index.ts'
import { BUSY_MS_DEFAULT, Database } from './database.ts'
import { DatabaseFile } from './database-file.ts'
import { loadDriver } from './driver.ts'
import { requireIntactTail } from './log-tail.ts'
import { removeSession, sweepHidden } from './removal.ts'
import { repairSession } from './repair-session.ts'
import { SessionLocks } from './session-locks.ts'
import { findRow, findSession, rowsOfId, type StoredSession } from './session-statements.ts'
import { listSessions } from './sqlite-listing.ts'
import { SqliteReader } from './sqlite-reader.ts'
import { SqliteWriter } from './sqlite-writer.ts'

export interface SqliteStorageOptions {
  /** Path of the database; made, 0600, by the first append. Its directory may be reached through symbolic links. */
  readonly file: string
  /**
   * `wal`: readers and writers do not wait for each other. `delete`: a rollback journal, for file systems without shared
   * memory; every commit costs more syncs. Default: the mode that the database has; `wal` for a new one.
   */
  readonly journal?: JournalMode
  /** Milliseconds that a call waits for a busy database before it rejects with BUSY, 0 to 60,000; default 5,000. */
  readonly busyMs?: number
}

/**
 * INVALID_ARGUMENT for options that are not of the documented form; NOT_SUPPORTED where better-sqlite3 cannot be
 * loaded. Touches nothing yet.
 */
export function sqliteStorage(options: SqliteStorageOptions): SessionStorage {
  return new SqliteStorage(options)
}

export class SqliteStorage implements SessionStorage {
  #description: BackendDescription
  readonly #database: Database
  readonly #file: DatabaseFile
  readonly #locks: SessionLocks
  readonly #keepsJournal: boolean

  constructor({ file, journal, busyMs = BUSY_MS_DEFAULT }: SqliteStorageOptions) {
    const driver = loadDriver()
    this.#file = new DatabaseFile(file)
    this.#locks = new SessionLocks(this.#file)
    this.#database = new Database(driver, this.#file, { journal, busyMs })
    this.#description = describe(journal ?? 'wal', driver.sqliteVersion)
    this.#keepsJournal = journal === undefined
  }

  get description(): BackendDescription {
    return this.#description
  }

  /** Looks at an existing database. CORRUPT and UNSUPPORTED_VERSION for one that is not ours, with nothing written. */
  async look(): Promise<void> {
    const found = await this.#database.read((connection) => connection.journalMode)
    if (found === undefined || !this.#keepsJournal) return
    this.#description = describe(found, String(this.#description.modes.sqlite))
  }

  async openWriter(id: string, intent: WriterIntent): Promise<StorageWriter> {
    checkSessionId(id)
    // Nothing to lock where nothing is stored: a wrong id must not leave a directory behind.
    if (intent.kind === 'resume' && !(await this.#isStored(id))) throw this.#notFound(id)
    const lock = await this.#locks.acquire(id)
    try {
      if (intent.kind === 'resume') {
        await sweepHidden(this.#database, id)
        return SqliteWriter.resume(this.#database, lock, await this.#resumable(id))
      }
      if (await this.#isFree(id)) {
        return SqliteWriter.create(this.#database, lock, intent.header, intent.staged === true)
      }
      throw new SessionError('ALREADY_EXISTS', 'a session with this id is stored here already', {
        sessionId: id,
        path: this.#file.given,
      })
    } catch (error) {
      await lock.release().catch(() => {})
      throw withSessionId(error, id)
    }
  }

  /** Whether anything of an id is stored, damaged or not. CORRUPT when only the index says that there is nothing. */
  async #isStored(id: string): Promise<boolean> {
    const found = await this.#database.read(
      (connection) => rowsOfId(connection, id).length > 0 || findSession(connection, id) !== undefined,
    )
    return found === true
  }

  /** The holder of the lock asks. One look is enough for an id that never was. */
  async #isFree(id: string): Promise<boolean> {
    const rows = await this.#database.readAlone((connection) => rowsOfId(connection, id))
    if (rows === undefined || rows.length === 0) return true
    await sweepHidden(this.#database, id)
    return (await this.#database.read((connection) => findRow(connection, id))) === undefined
  }

  async #resumable(id: string): Promise<StoredSession> {
    const stored = await this.#database.read((connection) => {
      const session = findSession(connection, id)
      if (session !== undefined) requireIntactTail(connection, session.row)
      return session
    })
    if (stored === undefined) throw this.#notFound(id)
    return stored
  }

  async openReader(id: string): Promise<StorageReader> {
    checkSessionId(id)
    try {
      const stored = await this.#database.read((connection) => findToRead(connection, id))
      if (stored === undefined) throw this.#notFound(id)
      return new SqliteReader(this.#database, stored)
    } catch (error) {
      throw withSessionId(error, id)
    }
  }

  async list(query: StorageListQuery): Promise<readonly StorageListEntry[]> {
    return await listSessions(this.#database, query)
  }

  async delete(id: string): Promise<boolean> {
    checkSessionId(id)
    // Where there is nothing to delete, nothing is written either; a writer that has stored nothing yet is in the way.
    if (!this.#locks.exists(id) && !(await this.#isStored(id))) return false
    const lock = await this.#locks.acquire(id)
    try {
      return await removeSession(this.#database, id)
    } catch (error) {
      throw withSessionId(error, id)
    } finally {
      await lock.release()
    }
  }

  async check(id: string, signal?: AbortSignal): Promise<StorageCheck> {
    checkSessionId(id)
    signal?.throwIfAborted()
    const check = await checkSession(this.#database, id, signal)
    if (check === undefined) throw this.#notFound(id)
    return check
  }

  async repair(id: string, options: StorageRepairOptions): Promise<StorageRepair> {
    checkSessionId(id)
    options.signal?.throwIfAborted()
    const lock = options.dryRun ? undefined : await this.#locks.acquire(id)
    try {
      const repaired = await repairSession(this.#database, id, options)
      if (repaired === undefined) throw this.#notFound(id)
      return repaired
    } catch (error) {
      throw withSessionId(error, id)
    } finally {
      await lock?.release()
    }
  }

  async close(): Promise<void> {
    await this.#database.close()
  }

  #notFound(id: string): SessionError {
    return new SessionError('NOT_FOUND', 'no session with this id is stored here', {
      sessionId: id,
      path: this.#file.given,
    })
  }
}

function describe(journal: JournalMode, sqlite: string): BackendDescription {
  return Object.freeze({
    name: 'sqlite',
    version: '1',
    capabilities: Object.freeze({
      durability: 'power',
      exclusion: 'host',
      integrity: 'checksum',
      follow: 'host',
      repair: 'salvage',
    } as const),
    // Each is read back when a connection opens, which fails where it differs.
    modes: Object.freeze({
      journal,
      synchronous: journal === 'wal' ? 'full' : 'extra',
      checksum: 'crc32',
      packing: 'runs',
      sqlite,
    }),
  })
}
