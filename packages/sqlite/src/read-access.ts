/** The connection for reading: opened when it is first needed, checked before anything is believed, never writing. */
import { accessSync, constants, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { SessionError } from '@session-persistence/core'
import { Connection } from './connection.ts'
import type { DatabaseFile } from './database-file.ts'
import type { Driver } from './driver.ts'
import { checkDatabase } from './migration.ts'
import { sqliteCode, sqliteError } from './sqlite-error.ts'

/** SQLite makes it in steps of so many bytes (its file format, WAL-index). */
const SHARED_MEMORY_BYTES = 32 * 1024

interface ReadConnection {
  readonly connection: Connection
  readonly identity: string
  /** Of the write-ahead log that it opened; undefined in the other journal mode. */
  readonly log: string | undefined
}

export class ReadAccess {
  readonly #driver: Driver
  readonly #file: DatabaseFile
  #opened: ReadConnection | undefined

  constructor(driver: Driver, file: DatabaseFile) {
    this.#driver = driver
    this.#file = file
  }

  /** Undefined while there is no database. CORRUPT and UNSUPPORTED_VERSION for one that is not ours to read. */
  connection(): Connection | undefined {
    const identity = this.#file.identity()
    if (this.#opened !== undefined && this.#opened.identity !== identity) this.close()
    if (identity === undefined) return undefined
    this.#opened ??= this.#open(identity)
    return this.#opened.connection
  }

  /** Which write-ahead log the open connection has: as long as it has one, nobody may put another in its place. */
  get log(): string | undefined {
    return this.#opened?.log
  }

  /** Undefined while there is no database. */
  use<T>(use: (connection: Connection) => T): T | undefined {
    try {
      const connection = this.connection()
      return connection === undefined ? undefined : use(connection)
    } catch (error) {
      // A rollback is done by the next opening; and what an I/O error left in the page cache is not read again.
      if (!needsRollback(error) && sqliteError(error, 'read', '').code !== 'IO') throw error
      this.close()
      if (!needsRollback(error)) throw this.#explained(error)
    }
    const connection = this.connection()
    return connection === undefined ? undefined : use(connection)
  }

  /** SQLite does not say why it cannot open a file, nor that there is no room for the shared memory that reading needs. */
  #explained(error: unknown): unknown {
    if (sqliteCode(error) === 'SQLITE_IOERR_SHMSIZE' && this.#isFull()) {
      return Object.assign(new Error('no room for the shared memory of the database', { cause: error }), {
        code: 'SQLITE_FULL',
      })
    }
    if (sqliteCode(error)?.startsWith('SQLITE_CANTOPEN') !== true) return error
    try {
      accessSync(this.#file.path ?? this.#file.given, constants.R_OK)
      return error
    } catch (reason) {
      return reason
    }
  }

  /** Whether the file system has less room than shared memory takes at least. Nothing is written to find out. */
  #isFull(): boolean {
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#file.path ?? this.#file.given))
      return bavail * bsize < SHARED_MEMORY_BYTES
    } catch {
      return false
    }
  }

  #open(identity: string): ReadConnection {
    this.#file.requirePlainCompanions()
    try {
      return this.#openChecked(identity)
    } catch (error) {
      if (!needsRollback(error)) throw error
      Connection.visit(this.#driver, this.#file.path ?? this.#file.given)
      return this.#openChecked(identity)
    }
  }

  #openChecked(identity: string): ReadConnection {
    const path = this.#file.path ?? this.#file.given
    const connection = Connection.openToRead(this.#driver, path)
    try {
      checkDatabase(connection)
      if (this.#file.identity() !== identity)
        throw new SessionError('BUSY', `the database was replaced: ${path}`, { path })
      return { connection, identity, log: connection.journalMode === 'wal' ? this.#file.logIdentity() : undefined }
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /**
   * Removes the empty log and the shared memory that reading made: a connection that only reads leaves them behind. A
   * log with content stays as it is, since moving it would write to the database.
   */
  tidyUp(): void {
    if (!this.#file.hasEmptyLog()) return
    try {
      Connection.visit(this.#driver, this.#file.path ?? this.#file.given)
    } catch {
      // They are SQLite's own files, and harmless where they are.
    }
  }

  close(): void {
    const opened = this.#opened
    this.#opened = undefined
    opened?.connection.close()
  }
}

/** True when a killed process left a journal, or a log, that a writer must look at first. */
export function needsRollback(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === 'SQLITE_READONLY_ROLLBACK' || code === 'SQLITE_READONLY_RECOVERY'
}
