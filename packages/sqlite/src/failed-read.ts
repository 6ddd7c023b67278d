/**
 * SQLite calls a database corrupt when the system could not read it (EIO): the two are told apart here, since one is
 * repaired and the other copied to a sound disk. What is read is read once more, past SQLite and by it.
 */
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { isMissing } from '@session-persistence/file-log'
import type { Driver, SqlValue } from './driver.ts'
import { sqliteCode } from './sqlite-error.ts'

const CHUNK_BYTES = 1024 * 1024

/** Connections of this process, by path; and the descriptors that have to stay open as long as there is one. */
const connections = new Map<string, { count: number; readonly descriptors: number[] }>()

export function connectionOpened(path: string): void {
  const found = connections.get(path)
  if (found === undefined) connections.set(path, { count: 1, descriptors: [] })
  else found.count++
}

export function connectionClosed(path: string): void {
  const found = connections.get(path)
  if (found === undefined || --found.count > 0) return
  connections.delete(path)
  for (const descriptor of found.descriptors) closeSync(descriptor)
}

export interface FailedStatement {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/**
 * The error of a statement as it should have been told. Reads the whole database where that is in question: it is for
 * the caller to believe the first answer.
 */
export function toldApart(error: unknown, driver: Driver, path: string, statement: FailedStatement): unknown {
  if (!isInQuestion(error) || !(isUnreadable(path) || worksNow(driver, path, statement))) return error
  return Object.assign(new Error('disk I/O error', { cause: error }), { code: 'SQLITE_IOERR_READ' })
}

/** The extended codes name damage that SQLite has seen for itself. */
export function isInQuestion(error: unknown): boolean {
  return sqliteCode(error) === 'SQLITE_CORRUPT'
}

function isUnreadable(path: string): boolean {
  try {
    readThrough(path, connections.get(path)?.descriptors)
    readThrough(`${path}-wal`, undefined)
    return false
  } catch (error) {
    return !isMissing(error)
  }
}

/** `kept`: closing any descriptor of the database drops the locks that SQLite holds on it (reliability.md, fact 11). */
function readThrough(path: string, kept: number[] | undefined): void {
  const descriptor = kept?.[0] ?? openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  if (kept?.length === 0) kept.push(descriptor)
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let position = 0; ; ) {
      const count = readSync(descriptor, chunk, 0, chunk.length, position)
      if (count === 0) return
      position += count
    }
  } finally {
    if (kept === undefined) closeSync(descriptor)
  }
}

/** Whether a connection that has nothing in memory sees no damage: then a read failed that succeeds by now. */
function worksNow(driver: Driver, path: string, { sql, values }: FailedStatement): boolean {
  const [again, ...given] = /^\s*(?:SELECT|WITH)\b/i.test(sql) ? [sql, ...values] : ['PRAGMA integrity_check(1)']
  try {
    const connection = driver.open(path, 'read')
    try {
      connection.exec('PRAGMA trusted_schema = 0; PRAGMA cell_size_check = 1; PRAGMA mmap_size = 0')
      const rows = connection
        .prepare(again)
        .raw()
        .iterate(...given) as Iterable<readonly unknown[]>
      for (const row of rows) if (again !== sql && row[0] !== 'ok') return false
      return true
    } finally {
      connection.close()
    }
  } catch {
    return false
  }
}
