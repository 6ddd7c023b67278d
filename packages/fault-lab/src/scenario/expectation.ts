/** What a reader must find of one session after a crash: no less than was acknowledged, no more than was submitted. */
import type { AnySessionEvent } from '@session-persistence/core'

export interface History {
  readonly events: readonly AnySessionEvent[]
  /** Acknowledged: at least so many of them must be there. */
  readonly atLeast: number
}

export interface Expectation {
  readonly id: string
  /** The log is a prefix of one of these. More than one while it is being replaced. */
  readonly histories: readonly History[]
  readonly absent: 'required' | 'allowed' | 'forbidden'
  /** The stored log was damaged on purpose, and is not repaired yet. */
  readonly damaged?: boolean
}

export function nothing(id: string): Expectation {
  return { id, histories: [], absent: 'required' }
}

/** Undefined when `found` (undefined: no session) is as expected, else a sentence. */
export function violation(
  { histories, absent, damaged }: Expectation,
  found: readonly AnySessionEvent[] | undefined,
): string | undefined {
  if (found === undefined) return absent === 'forbidden' ? 'an acknowledged session is gone' : undefined
  if (absent === 'required') return `a session of ${found.length} events is there, and nobody stored one`
  // What a repair makes of a damaged log is not known before it says so.
  if (damaged === true) return undefined
  const reasons = histories.map(({ events, atLeast }) => {
    if (found.length > events.length) return `${found.length} events, ${events.length} were submitted`
    const differs = found.findIndex((event, index) => JSON.stringify(event) !== JSON.stringify(events[index]))
    if (differs >= 0) return `event ${differs} is not the one that was submitted`
    return found.length < atLeast ? `${found.length} events, ${atLeast} were acknowledged` : undefined
  })
  return reasons.length > 0 && reasons.every((reason) => reason !== undefined) ? reasons.join('; or ') : undefined
}
