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

const texts = new WeakMap<AnySessionEvent, string>()

/** The canonical text of an event that was submitted: it is held against millions of states. */
function textOf(event: AnySessionEvent | undefined): string | undefined {
  if (event === undefined) return undefined
  const text = texts.get(event) ?? JSON.stringify(event)
  texts.set(event, text)
  return text
}

/** Index of the first event of `found` that is not the one at its place in `submitted`; -1 where there is none. */
export function firstForeign(found: readonly AnySessionEvent[], submitted: readonly AnySessionEvent[]): number {
  return found.findIndex((event, index) => JSON.stringify(event) !== textOf(submitted[index]))
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
    const differs = firstForeign(found, events)
    if (differs >= 0) return `event ${differs} is not the one that was submitted`
    return found.length < atLeast ? `${found.length} events, ${atLeast} were acknowledged` : undefined
  })
  return reasons.length > 0 && reasons.every((reason) => reason !== undefined) ? reasons.join('; or ') : undefined
}
