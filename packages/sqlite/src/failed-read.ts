/**
 * SQLite calls a database corrupt when the system could not read it (EIO): the two are told apart here, since one is
 * repaired and the other copied to a sound disk. A statement that reads is asked once more, by a connection that has
 * nothing in memory; and the file is read past SQLite. Of a statement that writes only the latter is believed here, since
 * no check that costs less than the database can say that SQLite was right: who writes tries once more (GroupCommit).
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { isMissing } from '@session-persistence/file-log'
import type { Driver, SqlValue } from './driver.ts'
import { sqliteCode } from './sqlite-error.ts'

const CHUNK_BYTES = 1024 * 1024

/** Where Linux shows what a process has open. */
const DESCRIPTORS = '/proc/self/fd'

/**
 * Milliseconds for which a file that could be read is not read again: to read a gigabyte that is in memory holds the event
 * loop for about 300 ms, and whoever meets damage meets it at every try.
 */
const BELIEVED_MS = 10_000

/** Databases of which a descriptor is kept. Of one more, SQLite's word is believed. */
const KEPT_MAX = 8

interface KeptDescriptor {
  readonly descriptor: number
  /** Device and inode: what has the name now may be another file. */
  readonly identity: string
  /** When it was last read to its end, in milliseconds of the process's clock. */
  readAt: number
}

/**
 * Closing any descriptor of a database drops every lock that the process has on it (reliability.md, fact 11), and another
 * copy of this module, in a worker thread say, may have connections that this one does not know of: so each stays until
 * nothing else in the process has the file open, and for good where that cannot be told.
 */
const kept: KeptDescriptor[] = []

/** To be called after a connection was closed. */
export function connectionClosed(): void {
  if (kept.length === 0) return
  const open = openedFiles()
  if (open === undefined) return
  for (const file of kept.splice(0)) {
    // One of them is our own.
    if (open.filter((identity) => identity === file.identity).length > 1) kept.push(file)
    else closeSync(file.descriptor)
  }
}

/** Of every descriptor of the process, whoever opened it; undefined where that cannot be told. */
function openedFiles(): readonly string[] | undefined {
  try {
    return readdirSync(DESCRIPTORS).map((descriptor) => {
      const stat = statSync(`${DESCRIPTORS}/${descriptor}`, { throwIfNoEntry: false })
      return stat === undefined ? '' : identityOf(stat)
    })
  } catch {
    return undefined
  }
}

export interface FailedStatement {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/**
 * The error of a statement as it should have been told. May read the whole database where that is in question: it is for
 * the caller to believe the first answer.
 */
export function toldApart(error: unknown, driver: Driver, path: string, statement: FailedStatement): unknown {
  if (!isInQuestion(error) || !(worksNow(driver, path, statement) || isUnreadable(path))) return error
  return Object.assign(new Error('disk I/O error', { cause: error }), { code: 'SQLITE_IOERR_READ' })
}

/** The extended codes name damage that SQLite has seen for itself. */
export function isInQuestion(error: unknown): boolean {
  return sqliteCode(error) === 'SQLITE_CORRUPT'
}

function isUnreadable(path: string): boolean {
  // When a worker thread ends, Node closes what it opened, and with that drops the locks of all other threads.
  if (!isMainThread) return false
  try {
    const file = keptDescriptor(path)
    if (file === undefined || performance.now() - file.readAt < BELIEVED_MS) return false
    readThrough(file.descriptor)
    readLog(`${path}-wal`)
    file.readAt = performance.now()
    return false
  } catch (error) {
    return !isMissing(error)
  }
}

/** Of the file that has the name now. */
function keptDescriptor(path: string): KeptDescriptor | undefined {
  const named = identityOf(lstatSync(path))
  const found = kept.find(({ identity }) => identity === named)
  if (found !== undefined || kept.length >= KEPT_MAX) return found
  const descriptor = openToRead(path)
  const opened = { descriptor, identity: identityOf(fstatSync(descriptor)), readAt: Number.NEGATIVE_INFINITY }
  kept.push(opened)
  return opened
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`
}

/** SQLite holds no locks on a log, so that its descriptor may be closed. */
function readLog(path: string): void {
  let descriptor: number
  try {
    descriptor = openToRead(path)
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  try {
    readThrough(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function openToRead(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
}

function readThrough(descriptor: number): void {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (let position = 0; ; ) {
    const count = readSync(descriptor, chunk, 0, chunk.length, position)
    if (count === 0) return
    position += count
  }
}

/** Whether a connection that has nothing in memory sees no damage: then a read failed that succeeds by now. */
function worksNow(driver: Driver, path: string, statement: FailedStatement): boolean {
  const again = asReading(statement)
  if (again === undefined) return false
  try {
    const connection = driver.open(path, 'read')
    try {
      connection.exec('PRAGMA trusted_schema = 0; PRAGMA cell_size_check = 1; PRAGMA mmap_size = 0')
      const rows = connection
        .prepare(again.sql)
        .raw()
        .iterate(...again.values)
      while (rows.next().done !== true) {
        // To have read it is all.
      }
      return true
    } finally {
      connection.close()
    }
  } catch {
    return false
  }
}

/** Something that reads what a statement read; undefined for one that writes, or looks at every page. */
function asReading(statement: FailedStatement): FailedStatement | undefined {
  if (/^\s*(?:SELECT|WITH)\b/i.test(statement.sql)) return statement
  // These read the schema, and the first page.
  if (/^\s*(?:BEGIN\b|PRAGMA \w+(?: = \w+)?\s*$)/i.test(statement.sql)) {
    return { sql: 'SELECT count(*) FROM sqlite_schema', values: [] }
  }
  return undefined
}
