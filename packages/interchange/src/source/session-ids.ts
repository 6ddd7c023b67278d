import { checkSessionId } from '@session-persistence/core'

/** Hexadecimal digits of the content's SHA-256 that go into an id. */
const HASH_DIGITS = 12

/** `{{sessionId}}` and the like: a fixture's stand-in, shared by many files. */
const PLACEHOLDER = /^\{\{.*\}\}$/

/** True for an id that tells nothing apart: absent, not well-formed, too long, or a fixture's stand-in. */
export function isPlaceholderId(id: unknown): boolean {
  if (typeof id !== 'string' || PLACEHOLDER.test(id)) return true
  try {
    checkSessionId(id)
    return false
  } catch {
    return true
  }
}

/**
 * The id of an imported session: the source's own, or `<format>-<hash>` where it has none. With `hashed` the content's
 * hash is added in any case, because the source's own is taken by other content.
 * @param hash SHA-256 of the source's content in hexadecimal
 */
export function importedId(sourceId: unknown, format: string, hash: string, hashed: boolean): string {
  const digits = hash.slice(0, HASH_DIGITS)
  if (isPlaceholderId(sourceId)) return `${format}-${digits}`
  return hashed ? `${String(sourceId)}-${digits}` : String(sourceId)
}
