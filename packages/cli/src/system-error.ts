import { isSessionError, SessionError, type SessionErrorCode } from '@session-persistence/core'

const codes: { readonly [errno: string]: SessionErrorCode } = {
  ENOENT: 'NOT_FOUND',
  ENOTDIR: 'INVALID_ARGUMENT',
  EISDIR: 'INVALID_ARGUMENT',
  ENAMETOOLONG: 'INVALID_ARGUMENT',
  ERR_INVALID_ARG_VALUE: 'INVALID_ARGUMENT',
  EEXIST: 'ALREADY_EXISTS',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  ELOOP: 'PERMISSION_DENIED',
  EROFS: 'READ_ONLY',
  ENOSPC: 'NO_SPACE',
  EDQUOT: 'NO_SPACE',
  EFBIG: 'NO_SPACE',
}

/** An error of the operating system about a file that the user named, as the one error class. Others pass through. */
export function systemError(error: unknown, sentence: string, path: string): unknown {
  if (isSessionError(error) || !(error instanceof Error) || !('code' in error)) return error
  const errno = String(error.code)
  const message = errno === 'EEXIST' ? `there is something already: ${path}` : `${sentence}: ${path}: ${errno}`
  return new SessionError(codes[errno] ?? 'IO', message, { cause: error, path })
}

/**
 * The same for an error that came up where no file was named: a directory of temporary files, the working directory.
 * Undefined for anything but a refused system call.
 */
export function systemFailure(error: unknown): SessionError | undefined {
  if (!(error instanceof Error)) return undefined
  const { code = 'unknown error', syscall, path } = error as NodeJS.ErrnoException
  if (typeof syscall !== 'string') return undefined
  const sentence =
    syscall === 'uv_cwd'
      ? `the working directory cannot be told, it may have been removed: ${code}`
      : `the system refused ${syscall}: ${path === undefined ? '' : `${path}: `}${code}`
  return new SessionError(codes[code] ?? 'IO', sentence, { cause: error, ...(path === undefined ? {} : { path }) })
}
