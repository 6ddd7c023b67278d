import { v7 } from 'uuid'
import { SessionError } from '../errors.ts'
import { LIMITS } from '../limits.ts'

/** A new UUIDv7: ids made later sort later. */
export function newSessionId(): string {
  return v7()
}

/**
 * The id, if it is one: any non-empty well-formed text of at most `LIMITS.idBytes` UTF-8 bytes (contract family ID).
 * Otherwise INVALID_ID. What characters it holds does not matter: each backend encodes it.
 */
export function checkSessionId(id: unknown): string {
  if (typeof id !== 'string') throw new SessionError('INVALID_ID', `A session id must be a string, not ${typeof id}`)
  if (id === '') throw new SessionError('INVALID_ID', 'A session id must not be empty')
  // A lone surrogate has no UTF-8 form, so two such ids could not be told apart on disk.
  if (/\p{Surrogate}/u.test(id)) throw new SessionError('INVALID_ID', 'A session id must be well-formed Unicode')
  const bytes = Buffer.byteLength(id, 'utf8')
  if (bytes > LIMITS.idBytes) {
    throw new SessionError(
      'INVALID_ID',
      `The session id exceeds the limit idBytes (${LIMITS.idBytes} bytes of UTF-8)`,
      {
        expected: LIMITS.idBytes,
        found: bytes,
      },
    )
  }
  return id
}
