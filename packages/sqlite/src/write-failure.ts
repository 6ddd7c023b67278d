/**
 * Why a write failed. SQLite says no more than "I/O error in write" for a quota or a size limit that was reached, so
 * the file system is asked again, with a file of our own.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, constants, lstatSync, openSync, rmSync, writeSync } from 'node:fs'
import { SessionError } from '@session-persistence/core'
import { ioError } from '@session-persistence/file-log'
import { sqliteCode, sqliteError } from './sqlite-error.ts'

/** More than SQLite writes in one call: a page with its frame header. */
const PROBE_BYTES = 8192

/** What a transaction may have grown a file by before SQLite cut it back. */
const GROWTH_BYTES = 4 * 1024 * 1024

/** The typed form of an error that a write or commit met. */
export function writeFailure(error: unknown, path: string): SessionError {
  const code = sqliteCode(error)
  const failure = sqliteError(error, 'write to the database', path)
  const probed = /^SQLITE_(?:IOERR|CANTOPEN)/.test(code ?? '') ? probe(path) : undefined
  if (probed === undefined || probed.code === 'IO') return failure
  return new SessionError(probed.code, `cannot write to the database: ${code} in ${path}`, { path, cause: error })
}

/** Writes where the database or its log would have grown, in a file beside it; undefined when that works. */
function probe(path: string): SessionError | undefined {
  const file = `${path}.probe-${randomBytes(8).toString('hex')}`
  try {
    const position = Math.max(sizeOf(path), sizeOf(`${path}-wal`), sizeOf(`${path}-journal`)) + GROWTH_BYTES
    const descriptor = openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600)
    try {
      writeSync(descriptor, Buffer.alloc(PROBE_BYTES, 1), 0, PROBE_BYTES, position)
    } finally {
      closeSync(descriptor)
    }
    return undefined
  } catch (error) {
    return ioError(error, 'write', path)
  } finally {
    removeQuietly(file)
  }
}

function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // Where it cannot be removed it could not be made either.
  }
}

function sizeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
}
