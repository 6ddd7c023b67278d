/** Operating-system errors as typed ones (contract family ERR). */
import { constants } from 'node:os'
import {
  isExhaustionCode,
  isSessionError,
  SessionError,
  type SessionErrorCode,
  type SessionErrorDetails,
} from '@session-persistence/core'

const CODES: { readonly [name: string]: SessionErrorCode } = {
  ENOSPC: 'NO_SPACE',
  EDQUOT: 'NO_SPACE',
  EFBIG: 'NO_SPACE',
  EROFS: 'READ_ONLY',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  ELOOP: 'PERMISSION_DENIED',
  ENOTDIR: 'PERMISSION_DENIED',
  EISDIR: 'PERMISSION_DENIED',
  ENXIO: 'PERMISSION_DENIED',
  EBUSY: 'BUSY',
}

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.errno).map(([name, number]) => [number, name]),
)

/**
 * The symbolic name of a system error, undefined for anything else. libuv knows no name for EDQUOT and ESTALE and
 * reports them by number only, hence the look-up by `errno`.
 */
export function systemErrorName(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { errno, code } = error as NodeJS.ErrnoException
  const byNumber = typeof errno === 'number' ? NAMES.get(Math.abs(errno)) : undefined
  return byNumber ?? (typeof code === 'string' ? code : undefined)
}

export function isMissing(error: unknown): boolean {
  return systemErrorName(error) === 'ENOENT'
}

/** Whether the process, or the system, is out of handles or memory: that is not about the file that was asked for. */
export function isExhaustion(error: unknown): boolean {
  return isExhaustionCode(systemErrorName(isSessionError(error) ? error.cause : error))
}

/**
 * The typed form of whatever a file-system call threw: NO_SPACE, READ_ONLY, PERMISSION_DENIED, BUSY, else IO. Never
 * NOT_FOUND or CORRUPT: whether a missing file means "no such session" only the caller knows.
 */
export function ioError(
  error: unknown,
  action: string,
  path: string,
  details: Omit<SessionErrorDetails, 'cause' | 'path'> = {},
): SessionError {
  if (isSessionError(error)) return error
  const name = systemErrorName(error)
  const code = (name === undefined ? undefined : CODES[name]) ?? 'IO'
  return new SessionError(code, `cannot ${action}: ${name ?? 'unexpected error'}`, { ...details, path, cause: error })
}

/** Runs a file-system call and gives its failure the typed form. */
export async function attempt<T>(action: string, path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw ioError(error, action, path)
  }
}
