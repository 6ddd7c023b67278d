/**
 * The SQLite driver, loaded when it is first needed: on a machine where better-sqlite3 neither came prebuilt nor
 * compiled, importing this package must still work. Only what is used here is described, so that the driver's types do
 * not become part of ours.
 */
import { createRequire } from 'node:module'
import { SessionError } from '@session-persistence/core'

export type SqlValue = number | string | Uint8Array | null

export interface Statement {
  run(...values: readonly SqlValue[]): { readonly changes: number }
  get(...values: readonly SqlValue[]): unknown
  all(...values: readonly SqlValue[]): readonly unknown[]
  iterate(...values: readonly SqlValue[]): IterableIterator<unknown>
  /** Rows as arrays from here on. */
  raw(): Statement
}

export interface DriverConnection {
  prepare(sql: string): Statement
  exec(sql: string): unknown
  readonly inTransaction: boolean
  /** Whether statements may do what makes a database unreadable, as to change the schema's own table. */
  unsafeMode(on: boolean): unknown
  /** The bytes of the whole database. */
  serialize(): Buffer
  close(): unknown
}

interface DriverOptions {
  readonly readonly: boolean
  readonly fileMustExist: boolean
  /** Milliseconds that a contended call blocks the event loop. */
  readonly timeout: number
}

type DriverConstructor = new (file: string | Buffer, options: DriverOptions) => DriverConnection

export interface Driver {
  readonly sqliteVersion: string
  /** Of an existing file. Contention is reported at once, never waited for (reliability.md, fact 12). */
  open(file: string, access: 'read' | 'write'): DriverConnection
  /** Of a database in memory that begins with these bytes. */
  openInMemory(bytes: Buffer): DriverConnection
}

/** Older ones have faults in the handling of the write-ahead log. */
const SQLITE_VERSION_MIN = [3, 51, 3] as const

let loaded: Driver | undefined

/** NOT_SUPPORTED when better-sqlite3 is not installed, has no binary for this platform, or is too old. */
export function loadDriver(): Driver {
  loaded ??= load(createRequire(import.meta.url))
  return loaded
}

/** `require` stands for Node's own; tests give one that fails. */
export function load(require: (name: string) => unknown): Driver {
  let Database: DriverConstructor
  let sqliteVersion: string
  try {
    Database = require('better-sqlite3') as DriverConstructor
    sqliteVersion = versionOf(Database)
  } catch (cause) {
    throw new SessionError(
      'NOT_SUPPORTED',
      'the SQLite backend is not available here: its optional dependency better-sqlite3 is not installed, or was neither downloaded nor compiled for this platform and Node version',
      { cause },
    )
  }
  if (isOlder(sqliteVersion)) {
    const expected = SQLITE_VERSION_MIN.join('.')
    throw new SessionError('NOT_SUPPORTED', `SQLite ${sqliteVersion} is too old: ${expected} or newer is needed`, {
      expected,
      found: sqliteVersion,
    })
  }
  return {
    sqliteVersion,
    open: (file, access) => new Database(file, { readonly: access === 'read', fileMustExist: true, timeout: 0 }),
    openInMemory: (bytes) => new Database(bytes, { readonly: false, fileMustExist: false, timeout: 0 }),
  }
}

/** The binary is loaded by the first connection, not by the module. */
function versionOf(Database: DriverConstructor): string {
  const connection = new Database(':memory:', { readonly: false, fileMustExist: false, timeout: 0 })
  try {
    return String(connection.prepare('SELECT sqlite_version()').raw().all().flat()[0])
  } finally {
    connection.close()
  }
}

function isOlder(version: string): boolean {
  const found = version.split('.').map(Number)
  for (const [index, least] of SQLITE_VERSION_MIN.entries()) {
    const part = found[index] ?? 0
    if (part !== least) return part < least
  }
  return false
}
