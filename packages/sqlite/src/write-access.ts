/**
 * The connection for writing. After an I/O error nothing that it holds is believed any more: it is closed, and the next
 * one must move the whole write-ahead log into the database before anything is committed (reliability.md, fact 1).
 */
import { dirname } from 'node:path'
import { SessionError } from '@session-persistence/core'
import { ensurePrivateDirectory, nodeFileSystem, RootDirectory, WriterLock } from '@session-persistence/file-log'
import { checkpointFully } from './checkpoint.ts'
import { Connection, type JournalMode } from './connection.ts'
import { type DatabaseFile, type FileIdentities, type FileNames, syncPath } from './database-file.ts'
import type { Driver } from './driver.ts'
import { isInQuestion } from './failed-read.ts'
import { checkDatabase, migrate } from './migration.ts'
import type { ReadAccess } from './read-access.ts'
import { createSchema } from './schema.ts'
import { writeFailure } from './write-failure.ts'

/** No session's lock has this name: those never start with a dot. */
const CREATION_LOCK = '.create'

interface OpenConnection {
  readonly connection: Connection
  readonly names: FileNames
  /** What the names led to when it was opened. */
  readonly files: FileIdentities
}

export class WriteAccess {
  readonly #driver: Driver
  readonly #file: DatabaseFile
  /** Undefined: as the database has it. */
  readonly #journal: JournalMode | undefined
  readonly #reads: ReadAccess
  #opened: OpenConnection | undefined
  /** Of the database that was opened first: another one in its place is not ours to go on with. */
  #identity: string | undefined
  #failure: SessionError | undefined
  #generation = 0

  constructor(driver: Driver, file: DatabaseFile, journal: JournalMode | undefined, reads: ReadAccess) {
    this.#driver = driver
    this.#file = file
    this.#journal = journal
    this.#reads = reads
  }

  /** Grows with every failure: what was written under an older one must be established again. */
  get generation(): number {
    return this.#generation
  }

  /** The connection while it is open and nothing failed. */
  get current(): Connection | undefined {
    return this.#opened?.connection
  }

  get isOpen(): boolean {
    return this.#opened !== undefined
  }

  /** Opens the connection. BUSY may pass, NO_SPACE too; POISONED, with its cause, while a failure could not be overcome. */
  async open(): Promise<void> {
    try {
      this.#opened ??= await this.#openTwice()
    } catch (error) {
      const found = writeFailure(error, this.#file.given)
      // A full disk is what it is, whether a commit met it first or the moving of the log, which nobody was told of.
      if (this.#failure === undefined || found.code === 'BUSY' || found.code === 'NO_SPACE') throw found
      throw this.#poisoned(found)
    }
    this.#failure = undefined
  }

  /** The open connection, ready to commit; CONFLICT when the database, or its log, is no longer the file that was opened. */
  ready(): Connection {
    if (this.#opened === undefined)
      throw new SessionError('INVARIANT', 'the database is not open', { path: this.#file.given })
    const { connection, names, files } = this.#opened
    if (!isSame(names.identity(), files)) throw replaced(connection.path)
    return connection
  }

  /** What a caller is told that waited for a busy database in vain. */
  stillBusy(error: SessionError): SessionError {
    return this.#failure === undefined ? error : this.#poisoned(error)
  }

  /** Gives up both connections: pages that a failed sync left in memory must not be read again. */
  poison(failure: SessionError): void {
    this.#failure = failure
    this.#generation++
    this.close()
    closeQuietly(this.#reads)
  }

  /**
   * Empties the log and closes. Where that fails the log stays, also because others use it: what it holds is durable
   * there, and whoever opens the database next must move it before anything else.
   */
  closeCleanly(): void {
    try {
      if (this.#opened !== undefined) checkpointFully(this.#opened.connection)
    } catch {
      // Said above.
    } finally {
      this.close()
    }
  }

  close(): void {
    const opened = this.#opened
    this.#opened = undefined
    if (opened !== undefined) closeQuietly(opened.connection)
  }

  #poisoned(cause: SessionError): SessionError {
    return new SessionError('POISONED', `an earlier write failed and the database could not be re-established yet`, {
      path: this.#file.given,
      cause,
    })
  }

  /** What is called damage may be a read that failed, and has passed by now (GroupCommit does the same). */
  async #openTwice(): Promise<OpenConnection> {
    try {
      return await this.#open()
    } catch (error) {
      if (!isInQuestion(error)) throw error
      return await this.#open()
    }
  }

  async #open(): Promise<OpenConnection> {
    if (this.#file.identity() === undefined) {
      if (this.#identity !== undefined) throw replaced(this.#file.given)
      await this.#create()
    }
    const identity = this.#file.identity()
    if (identity === undefined) throw replaced(this.#file.given)
    if (this.#identity !== undefined && this.#identity !== identity) throw replaced(this.#file.given)
    this.#file.sweep()
    const version = this.#check()
    const current = this.#reads.connection()?.journalMode
    const journal = this.#journal ?? current ?? 'wal'
    if (journal === 'wal') this.#file.requireSharedMemory()
    // A connection of our own would stand in the way of a change of the journal mode. Otherwise it stays: with the last
    // connection goes the index of the log, and whoever makes a new one finds commits that a killed process had written
    // and not yet shown, after this one said that they are not there (CRASH-12).
    if (current !== journal) this.#reads.close()
    const log = current === journal ? this.#reads.log : undefined
    const connection = Connection.openToWrite(this.#driver, this.#file.path ?? this.#file.given, journal)
    try {
      // A log that the change of the journal mode asked for is made by the first read.
      connection.row('SELECT count(*) FROM sqlite_schema')
      // Taken at once, and compared when everything is done: whatever takes their place while this checks and syncs must
      // not become what every later commit is compared with.
      const names = this.#file.names(journal === 'wal')
      const files = names.identity()
      if (files.database !== identity || files.log === '') throw replaced(connection.path)
      if (log !== undefined && files.log !== log) throw replaced(connection.path)
      checkpointFully(connection)
      if (version !== undefined) migrate(connection, version)
      checkDatabase(connection)
      // SQLite syncs the directory when it first syncs a new log, and takes it for done when that fails. Without its
      // name the log is lost in a power cut, with every commit in it that was acknowledged.
      if (journal === 'wal') syncPath(dirname(connection.path))
      if (!isSame(names.identity(), files)) throw replaced(connection.path)
      this.#identity = identity
      return { connection, names, files }
    } catch (error) {
      closeQuietly(connection)
      throw error
    }
  }

  /** On a connection that cannot write, before one is opened that can. */
  #check(): number | undefined {
    const connection = this.#reads.connection()
    return connection === undefined ? undefined : checkDatabase(connection)
  }

  async #create(): Promise<void> {
    await new RootDirectory(nodeFileSystem, this.#file.directory, true).ensure()
    await ensurePrivateDirectory(nodeFileSystem, this.#file.locks)
    const lock = await acquireCreation(this.#file.locks)
    try {
      if (this.#file.identity() !== undefined) return
      this.#file.sweep()
      this.#file.create((path) => {
        const connection = Connection.openToWrite(this.#driver, path, this.#journal ?? 'wal')
        try {
          connection.run('BEGIN IMMEDIATE')
          createSchema(connection)
          connection.run('COMMIT')
          // Closing would do it too, but hide that it failed; and the log is not there under the new name.
          checkpointFully(connection)
        } finally {
          connection.close()
        }
      })
    } finally {
      await lock.release()
    }
  }
}

async function acquireCreation(locks: string): Promise<WriterLock> {
  try {
    return await WriterLock.acquire(nodeFileSystem, locks, CREATION_LOCK, '')
  } catch (cause) {
    throw cause instanceof SessionError && cause.code === 'LOCKED'
      ? new SessionError('BUSY', 'another process is making the database', { path: locks, cause })
      : cause
  }
}

function isSame(a: FileIdentities, b: FileIdentities): boolean {
  return a.database === b.database && a.log === b.log
}

function closeQuietly(closable: { close(): void }): void {
  try {
    closable.close()
  } catch {
    // Closing is what can be done; what it could not write is found by the next connection.
  }
}

function replaced(path: string): SessionError {
  return new SessionError('CONFLICT', `the database was moved, replaced or removed while it was open: ${path}`, {
    path,
  })
}
