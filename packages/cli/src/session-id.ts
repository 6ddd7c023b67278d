import { LIMITS, SessionError, type SessionPersistence } from '@session-persistence/core'
import { Argument } from 'commander'

const prefixLengthMin = 6
const candidatesShown = 4

/** Of commands that change what is stored and so take no part of an id. */
export const noSuchFullId = 'no session with this full id is stored here'

export function sessionArgument(): Argument {
  return new Argument('<id>', `session id, or the first characters of one (${prefixLengthMin} or more)`)
}

/**
 * The id that was meant: as given if such a session is stored, else the only one that starts with it. Commands that
 * destroy do not use this: they take full ids.
 */
export async function findSession(
  persistence: SessionPersistence,
  given: string,
  signal: AbortSignal,
): Promise<string> {
  if (given.length < prefixLengthMin || given.length >= 36) return given
  const found: string[] = []
  for await (const id of everySessionId(persistence, signal)) {
    if (id === given) return id
    if (id.startsWith(given)) found.push(id)
  }
  if (found.length > 1) {
    const shown = found.slice(0, candidatesShown).join(', ')
    const rest = found.length > candidatesShown ? ', …' : ''
    throw new SessionError(
      'INVALID_ARGUMENT',
      `${found.length} session ids start with this (${shown}${rest}): give more of it`,
    )
  }
  // Nothing found: the command itself says NOT_FOUND or INVALID_ID, in its own words.
  return found[0] ?? given
}

/** Newest first; damaged and newer ones last. */
export async function* everySessionId(persistence: SessionPersistence, signal: AbortSignal): AsyncGenerator<string> {
  let cursor: string | undefined
  do {
    const page = await persistence.list({
      limit: LIMITS.pageSessions,
      signal,
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const { id } of page.sessions) yield id
    cursor = page.cursor
  } while (cursor !== undefined)
}
