/** The open database: reads and commits, each retried while others keep it busy. */
import { SessionError } from '@session-persistence/core'
import { retryWhileBusy } from './busy-wait.ts'
import { ChangeWatch } from './change-watch.ts'
import { checkpointFully } from './checkpoint.ts'
import type { Connection, JournalMode } from './connection.ts'
import type { DatabaseFile } from './database-file.ts'
import type { Driver } from './driver.ts'
import { GroupCommit } from './group-commit.ts'
import { ReadAccess } from './read-access.ts'
import { sqliteError } from './sqlite-error.ts'
import { WriteAccess } from './write-access.ts'

export const BUSY_MS_DEFAULT = 5_000
const BUSY_MS_MAX = 60_000

export interface DatabaseOptions {
  /** Undefined: as the database has it; `wal` for a new one. */
  readonly journal: JournalMode | undefined
  /** Milliseconds that a contended call waits in all before it rejects with BUSY. */
  readonly busyMs: number
}

export class Database {
  readonly file: DatabaseFile
  readonly watch: ChangeWatch
  readonly #busyMs: number
  readonly #reads: ReadAccess
  readonly #writes: WriteAccess
  readonly #commits: GroupCommit
  #closed = false

  /** INVALID_ARGUMENT for options that are not of the documented form. Touches nothing yet. */
  constructor(driver: Driver, file: DatabaseFile, { journal, busyMs }: DatabaseOptions) {
    if (journal !== undefined && journal !== 'wal' && journal !== 'delete') {
      throw new SessionError('INVALID_ARGUMENT', "journal must be 'wal' or 'delete'")
    }
    if (!Number.isInteger(busyMs) || busyMs < 0 || busyMs > BUSY_MS_MAX) {
      throw new SessionError('INVALID_ARGUMENT', `busyMs must be an integer from 0 to ${BUSY_MS_MAX}`, {
        expected: BUSY_MS_MAX,
      })
    }
    this.file = file
    this.#busyMs = busyMs
    this.#reads = new ReadAccess(driver, file)
    this.#writes = new WriteAccess(driver, file, journal, this.#reads)
    this.watch = new ChangeWatch(() => this.#reads.connection()?.number('PRAGMA data_version'))
    this.#commits = new GroupCommit(this.#writes, file.given, busyMs, () => this.watch.announce())
  }

  get generation(): number {
    return this.#writes.generation
  }

  /**
   * What `use` returns, undefined while there is no database. All of `use` sees one snapshot: what another process
   * commits between two statements would make an index and its table look as if they contradicted each other. It must
   * finish before it returns.
   */
  async read<T>(use: (connection: Connection) => T): Promise<T | undefined> {
    return await this.readAlone((connection) => connection.snapshot(() => use(connection)))
  }

  /** The same outside any transaction: each statement has a snapshot of its own. */
  async readAlone<T>(use: (connection: Connection) => T): Promise<T | undefined> {
    this.#requireOpen()
    try {
      return await retryWhileBusy(this.#busyMs, () => this.#reads.use(use))
    } catch (error) {
      throw sqliteError(error, 'read the database', this.file.given)
    }
  }

  /** Runs in a transaction that others may share; what it returns is durable when this resolves. */
  commit<T>(bytes: number, apply: (connection: Connection) => T, patient?: boolean): Promise<T> {
    if (this.#closed) return Promise.reject(closed())
    return this.#commits.commit(bytes, apply, patient)
  }

  /** Runs by itself, outside any transaction. */
  async alone<T>(apply: (connection: Connection) => T): Promise<T> {
    this.#requireOpen()
    return await this.#commits.alone(apply)
  }

  /** Everything that is committed now is durable when this resolves, also what a killed process committed. */
  async settle(): Promise<void> {
    this.#requireOpen()
    await this.#commits.alone(checkpointFully)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#commits.idle()
    // Reading ends first: the last connection that closes removes the log, and only a writing one may.
    this.#reads.close()
    this.#writes.closeCleanly()
    this.#reads.tidyUp()
    this.watch.announce()
  }

  #requireOpen(): void {
    if (this.#closed) throw closed()
  }
}

function closed(): SessionError {
  return new SessionError('CLOSED', 'the database was closed')
}
