/** The driver's errors as typed ones (contract family ERR). Messages name the file and SQLite's own code, never content. */
import { isSessionError, SessionError, type SessionErrorCode } from '@session-persistence/core'
import { ioError } from '@session-persistence/file-log'

/** SQLite's result code, extended where it has one (`SQLITE_IOERR_FSYNC`); undefined for any other error. */
export function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return error.code.startsWith('SQLITE_') ? error.code : undefined
}

const BY_PRIMARY_CODE: readonly (readonly [prefix: string, code: SessionErrorCode])[] = [
  ['SQLITE_BUSY', 'BUSY'],
  ['SQLITE_LOCKED', 'BUSY'],
  // Two connections raced to set up the shared memory of the write-ahead log.
  ['SQLITE_PROTOCOL', 'BUSY'],
  ['SQLITE_FULL', 'NO_SPACE'],
  ['SQLITE_READONLY_DBMOVED', 'CONFLICT'],
  ['SQLITE_READONLY', 'READ_ONLY'],
  ['SQLITE_PERM', 'PERMISSION_DENIED'],
  ['SQLITE_AUTH', 'PERMISSION_DENIED'],
  ['SQLITE_CORRUPT', 'CORRUPT'],
  ['SQLITE_NOTADB', 'CORRUPT'],
  ['SQLITE_FORMAT', 'CORRUPT'],
  // A row where none may be: stored rows contradict the session's own count.
  ['SQLITE_CONSTRAINT', 'CORRUPT'],
  ['SQLITE_MISMATCH', 'CORRUPT'],
  ['SQLITE_TOOBIG', 'TOO_LARGE'],
]

/** The typed form of whatever a call of the driver or the file system threw; IO for what has no better name. */
export function sqliteError(error: unknown, action: string, path: string): SessionError {
  const found = sqliteCode(error)
  if (found === undefined) return ioError(error, action, path)
  const code = BY_PRIMARY_CODE.find(([prefix]) => found.startsWith(prefix))?.[1] ?? 'IO'
  return new SessionError(code, `cannot ${action}: ${wordsOf(found)} in ${path}`, { path, cause: error })
}

/** SQLite's own name, but where whoever named the wrong file would not know it. */
function wordsOf(code: string): string {
  return code === 'SQLITE_NOTADB' ? 'no database, or one whose first bytes are damaged,' : code
}

/** CORRUPT for SQLite's word for a file format that it does not know, and for a schema that it cannot parse. */
export function unreadableSchema(error: unknown, path: string): unknown {
  if (sqliteCode(error) !== 'SQLITE_ERROR') return error
  return new SessionError('CORRUPT', `SQLite cannot read the schema: ${path}`, { path, cause: error })
}

/** True for contention: nothing happened, and the same call may succeed in a moment. */
export function isBusy(error: unknown): boolean {
  return sqliteError(error, '', '').code === 'BUSY'
}

/** True when the error is about one session's rows, so that others in the same transaction may go on without it. */
export function concernsOneSession(error: unknown): boolean {
  return isSessionError(error) || /^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG|CORRUPT)/.test(sqliteCode(error) ?? '')
}
