/**
 * The one error class of every backend and every tool, with a closed list of codes
 * (contract family ERR). A message never contains payload: it names ids, seqs, paths, sizes and limits only.
 */

/** Every code, with the situation it stands for. */
export const SESSION_ERROR_CODES = {
  NOT_FOUND: 'No session with this id is stored here.',
  ALREADY_EXISTS: 'A session with this id is stored here already.',
  INVALID_ARGUMENT: 'An argument is not of the documented form.',
  INVALID_ID: 'The session id is empty, too long or not well-formed Unicode.',
  INVALID_EVENT: 'The event is not lossless JSON, fails its schema, or breaks the grammar.',
  UNKNOWN_EVENT: 'A required event type is neither core nor in the catalog.',
  TOO_LARGE: 'A stated limit would be exceeded; the limit is named.',
  BACKPRESSURE: 'Too many bytes wait to become durable; `drained()` says when to go on.',
  CONFLICT: 'The stored log is not what this writer left: somebody else changed it.',
  LOCKED: 'Another writer holds this session; the message names the owner.',
  CORRUPT: 'Stored bytes are damaged, or differ from the expected head.',
  UNSUPPORTED_VERSION: 'The stored format is newer than this program.',
  NOT_SUPPORTED: 'The backend or the catalog lacks what the call needs.',
  NO_SPACE: 'The medium is full or a quota or size limit is reached.',
  READ_ONLY: 'The medium does not accept writes.',
  PERMISSION_DENIED: 'The operating system denied access, or the path is not a plain file or directory.',
  BUSY: 'The medium stayed busy past the bound.',
  POISONED: 'An earlier write failed and the log could not be re-established yet; `flush()` is the retry.',
  CLOSED: 'The session, reader or persistence was closed.',
  INVARIANT: 'What the harness did differs from what the log derives.',
  IO: 'Any other input or output error; the cause is attached.',
} as const

export type SessionErrorCode = keyof typeof SESSION_ERROR_CODES

/** Facts that go with an error, where they are known. */
export interface SessionErrorDetails {
  readonly cause?: unknown
  readonly sessionId?: string
  readonly seq?: number
  /** Path of the file or directory concerned, or the JSON path inside an event (`$.data.message`). */
  readonly path?: string
  /** Byte offset in the file at `path`. */
  readonly offset?: number
  /** What was required, when a number or word was: a seq, a version, a limit. */
  readonly expected?: number | string
  /** What was found instead. */
  readonly found?: number | string
}

/** Thrown and rejected by everything here, except that an abort rejects with the signal's own reason. */
export class SessionError extends Error {
  override readonly name = 'SessionError'
  readonly code: SessionErrorCode
  readonly sessionId?: string
  readonly seq?: number
  readonly path?: string
  readonly offset?: number
  readonly expected?: number | string
  readonly found?: number | string

  constructor(code: SessionErrorCode, message: string, details: SessionErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    if (details.sessionId !== undefined) this.sessionId = details.sessionId
    if (details.seq !== undefined) this.seq = details.seq
    if (details.path !== undefined) this.path = details.path
    if (details.offset !== undefined) this.offset = details.offset
    if (details.expected !== undefined) this.expected = details.expected
    if (details.found !== undefined) this.found = details.found
  }
}

/** True for a {@link SessionError}, of the given code when one is given. Works across copies of this package. */
export function isSessionError(error: unknown, code?: SessionErrorCode): error is SessionError {
  if (!(error instanceof Error) || error.name !== 'SessionError' || !('code' in error)) return false
  if (typeof error.code !== 'string' || !Object.hasOwn(SESSION_ERROR_CODES, error.code)) return false
  return code === undefined || error.code === code
}

/** Adds the session id to a {@link SessionError} that does not carry one yet; anything else passes through. */
export function withSessionId(error: unknown, sessionId: string): unknown {
  if (!isSessionError(error) || error.sessionId !== undefined) return error
  return new SessionError(error.code, error.message, { ...error, cause: error.cause, sessionId })
}
