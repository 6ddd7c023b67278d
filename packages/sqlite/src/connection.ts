/** One connection to the database, with every setting that matters set and read back. */
import { SessionError } from '@session-persistence/core'
import type { Driver, DriverConnection, SqlValue, Statement } from './driver.ts'
import { connectionClosed, isInQuestion, toldApart } from './failed-read.ts'
import { unreadableSchema } from './sqlite-error.ts'

export type JournalMode = 'wal' | 'delete'

/** A row as it comes: `typeof` of each value is for the reader to check. */
export type Row = readonly unknown[]

/** What a write-ahead log is cut back to after it was emptied, in bytes: four times what fills it between checkpoints. */
const JOURNAL_BYTES = 4 * 1024 * 1024

/** Where the first page says how the file is journaled (SQLite's file format, 1.3). */
const JOURNAL_VERSIONS = [18, 20] as const
const ROLLBACK_JOURNAL = 1

const FULL = 2
/** FULL, and after a rollback journal was removed its directory too: without that a power cut brings it back. */
const EXTRA = 3

/** For every connection: nothing stored in the file is trusted, nothing waits, nothing spills into a temporary file. */
const COMMON: Readonly<Record<string, number>> = {
  busy_timeout: 0,
  trusted_schema: 0,
  cell_size_check: 1,
  mmap_size: 0,
  temp_store: 2,
}

const WRITING: Readonly<Record<string, number>> = {
  ...COMMON,
  foreign_keys: 1,
  // What is deleted is overwritten: a deleted session must not be found in the file's free pages.
  secure_delete: 1,
  journal_size_limit: JOURNAL_BYTES,
  // Checkpoints are ours (see checkpoint), because SQLite's automatic one hides its errors.
  wal_autocheckpoint: 0,
}

export class Connection {
  readonly path: string
  readonly #driver: DriverConnection
  readonly #maker: Driver
  readonly #statements: Map<string, Statement> = new Map()
  #isDamaged = false

  private constructor(maker: Driver, path: string, access: 'read' | 'write' | Buffer) {
    this.#maker = maker
    this.#driver = typeof access === 'string' ? maker.open(path, access) : maker.openInMemory(access)
    this.path = path
  }

  /** Read only: never writes to the database, also not when it is closed. */
  static openToRead(driver: Driver, path: string): Connection {
    return Connection.#opened(new Connection(driver, path, 'read'), (connection) => {
      connection.#set(COMMON)
    })
  }

  /** BUSY when the journal mode has to change and others have the database open. */
  static openToWrite(driver: Driver, path: string, journal: JournalMode): Connection {
    return Connection.#opened(new Connection(driver, path, 'write'), (connection) => {
      // A database that is reopened in WAL mode runs at NORMAL in this driver, which loses acknowledged commits.
      connection.#set({ ...WRITING, synchronous: journal === 'wal' ? FULL : EXTRA })
      connection.#setJournalMode(journal)
    })
  }

  /**
   * Opens to write and closes again. SQLite then undoes what a killed process left half-done, which a connection that
   * only reads cannot, and removes the companions of the database when nobody else uses them.
   */
  static visit(driver: Driver, path: string): void {
    Connection.#opened(new Connection(driver, path, 'write'), (connection) => {
      try {
        connection.all('SELECT count(*) FROM sqlite_schema')
      } catch (error) {
        throw unreadableSchema(error, path)
      }
    }).close()
  }

  static #opened(connection: Connection, prepare: (connection: Connection) => void): Connection {
    try {
      prepare(connection)
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** The database as it is now, in memory: to see what becomes of it when something is done. */
  inMemory(): Connection {
    const bytes = this.#driver.serialize()
    // Memory has no write-ahead log; what this one's holds is in the bytes.
    bytes.fill(ROLLBACK_JOURNAL, ...JOURNAL_VERSIONS)
    const { mmap_size: _, journal_size_limit: _limit, ...settings } = WRITING
    return Connection.#opened(new Connection(this.#maker, this.path, bytes), (connection) => connection.#set(settings))
  }

  /** `use` may change the schema's own table; afterwards it is read anew. */
  editSchema(use: () => void): void {
    this.#driver.unsafeMode(true)
    try {
      this.exec('PRAGMA writable_schema = 1')
      use()
    } finally {
      this.exec('PRAGMA writable_schema = RESET')
      this.#driver.unsafeMode(false)
    }
  }

  #set(settings: Readonly<Record<string, number>>): void {
    for (const [name, value] of Object.entries(settings)) {
      const setting = `PRAGMA ${name}`
      if (this.number(setting) === value) continue
      this.exec(`${setting} = ${value}`)
      const found = this.number(setting)
      if (found === value) continue
      throw new SessionError('NOT_SUPPORTED', `SQLite did not accept ${name} = ${value}`, {
        path: this.path,
        expected: value,
        found,
      })
    }
  }

  #setJournalMode(journal: JournalMode): void {
    if (this.text('PRAGMA journal_mode') === journal) return
    const found = this.text(`PRAGMA journal_mode = ${journal}`)
    if (found === journal) return
    throw new SessionError(
      'BUSY',
      `the journal mode could not be changed to ${journal}: others have ${this.path} open`,
      {
        path: this.path,
        expected: journal,
        found,
      },
    )
  }

  /** Of the database as it is now; others may change it. */
  get journalMode(): JournalMode {
    return this.text('PRAGMA journal_mode') === 'wal' ? 'wal' : 'delete'
  }

  get inTransaction(): boolean {
    return this.#driver.inTransaction
  }

  /** SQLite called the database damaged, and was not contradicted: what it says of that is believed from then on. */
  get isDamaged(): boolean {
    return this.#isDamaged
  }

  exec(sql: string): void {
    try {
      this.#driver.exec(sql)
    } catch (error) {
      throw this.#told(error, sql)
    }
  }

  /** What SQLite says of damage may be a read that failed. */
  #told(error: unknown, sql: string, values: readonly SqlValue[] = []): unknown {
    if (!isInQuestion(error)) return error
    this.#forgetPages()
    if (this.#isDamaged) return error
    const told = toldApart(error, this.#maker, this.path, { sql, values })
    this.#isDamaged = told === error
    return told
  }

  /**
   * SQLite looks at the cells of a page when it takes it into memory, refuses it, and finds it there the next time: so a
   * damaged page would be told once, and then be read as if it were sound.
   */
  #forgetPages(): void {
    try {
      this.#driver.exec('PRAGMA shrink_memory')
    } catch {
      // The statement that failed goes on with others, as the driver sees it: the next one that fails comes here again.
    }
  }

  /** Every statement of `use` sees the database as it is at the first one, whatever others commit meanwhile. */
  snapshot<T>(use: () => T): T {
    this.run('BEGIN')
    try {
      return use()
    } finally {
      if (this.inTransaction) this.run('ROLLBACK')
    }
  }

  /** Rows changed. */
  run(sql: string, ...values: readonly SqlValue[]): number {
    try {
      return this.#statement(sql, false).run(...values).changes
    } catch (error) {
      throw this.#told(error, sql, values)
    }
  }

  row(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    try {
      return this.#statement(sql, true).get(...values) as Row | undefined
    } catch (error) {
      throw this.#told(error, sql, values)
    }
  }

  all(sql: string, ...values: readonly SqlValue[]): readonly Row[] {
    try {
      return this.#statement(sql, true).all(...values) as readonly Row[]
    } catch (error) {
      throw this.#told(error, sql, values)
    }
  }

  /** One at a time; the connection can do nothing else until the iteration has ended. */
  rows(sql: string, ...values: readonly SqlValue[]): IterableIterator<Row> {
    const rows = this.#statement(sql, true).iterate(...values) as IterableIterator<Row>
    return {
      [Symbol.iterator]() {
        return this
      },
      next: () => {
        try {
          return rows.next()
        } catch (error) {
          throw this.#told(error, sql, values)
        }
      },
      return: () => rows.return?.() ?? { done: true, value: undefined },
    }
  }

  /** The one number that a statement yields. */
  number(sql: string, ...values: readonly SqlValue[]): number {
    const value = this.row(sql, ...values)?.[0]
    if (typeof value === 'number') return value
    throw new SessionError('CORRUPT', `expected a number from the database: ${this.path}`, { path: this.path })
  }

  /** The one text that a statement yields. */
  text(sql: string, ...values: readonly SqlValue[]): string {
    const value = this.row(sql, ...values)?.[0]
    if (typeof value === 'string') return value
    throw new SessionError('CORRUPT', `expected a text from the database: ${this.path}`, { path: this.path })
  }

  close(): void {
    this.#statements.clear()
    try {
      this.#driver.close()
    } finally {
      connectionClosed()
    }
  }

  #statement(sql: string, raw: boolean): Statement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#driver.prepare(sql)
      if (raw) statement.raw()
      this.#statements.set(sql, statement)
    }
    return statement
  }
}
