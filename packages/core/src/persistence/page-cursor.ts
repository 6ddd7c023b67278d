/** The cursor of a listing: the key of the last entry shown, opaque to callers. */
import { SessionError } from '../errors.ts'
import type { StorageListKey } from '../storage/session-storage.ts'

export function encodeCursor(key: StorageListKey): string {
  return Buffer.from(JSON.stringify([key.updatedAt ?? null, key.id]), 'utf8').toString('base64url')
}

/** INVALID_ARGUMENT for anything that {@link encodeCursor} did not make. */
export function decodeCursor(cursor: string): StorageListKey {
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch (cause) {
    throw new SessionError('INVALID_ARGUMENT', 'not a list cursor', { cause })
  }
  if (Array.isArray(parsed) && parsed.length === 2) {
    const [updatedAt, id] = parsed as unknown[]
    if (typeof id === 'string' && (updatedAt === null || Number.isSafeInteger(updatedAt))) {
      return { updatedAt: updatedAt === null ? undefined : (updatedAt as number), id }
    }
  }
  throw new SessionError('INVALID_ARGUMENT', 'not a list cursor')
}
