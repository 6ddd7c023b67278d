/** What the cases of both tiers do to a session, on the interface. */
import { type AnySessionEvent, isSessionError, type Session, type SessionPersistence } from '@session-persistence/core'

export const SESSION_ID = 'session'

/** What was promised, as far as it went. */
export interface Progress {
  /** Events that were accepted. */
  readonly submitted: AnySessionEvent[]
  /** As many of them as a flush covered. */
  acknowledged: number
}

export function newProgress(): Progress {
  return { submitted: [], acknowledged: 0 }
}

const FLUSHES = 3

/** Messages, three a flush. A failed flush is tried again `retries` times. */
export async function converse(session: Session, progress: Progress, retries = 0): Promise<void> {
  for (let flush = 0; flush < FLUSHES; flush++) {
    const messages = Array.from({ length: 3 }, (_, index) => ({
      type: 'user/message' as const,
      data: { message: { role: 'user', content: `${flush}, ${index}: ${'word '.repeat(20 * index)}` } },
    }))
    progress.submitted.push(...session.appendAll(messages))
    await flushStubbornly(session, retries)
    progress.acknowledged = progress.submitted.length
  }
}

/** Every refusal must be typed. */
export async function flushStubbornly(session: Session, retries: number): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await session.flush()
      return
    } catch (error) {
      if (!isSessionError(error)) throw new Error(`a flush failed without a type: ${String(error)}`, { cause: error })
      if (tries >= retries) throw error
    }
  }
}

/** The events of the session, undefined where there is none. */
export async function eventsOf(persistence: SessionPersistence): Promise<readonly AnySessionEvent[] | undefined> {
  const events: AnySessionEvent[] = []
  try {
    for await (const event of persistence.read(SESSION_ID)) events.push(event)
    return events
  } catch (error) {
    if (isSessionError(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

/** Throws unless `found` is what was promised: all that was acknowledged, in front of nothing but what was submitted. */
export function expectKept(found: readonly AnySessionEvent[] | undefined, progress: Progress, when: string): void {
  const events = found ?? []
  if (events.length < progress.acknowledged) {
    throw new Error(`${progress.acknowledged} events were acknowledged, ${events.length} are there ${when}`)
  }
  const submitted = progress.submitted.slice(0, events.length)
  if (JSON.stringify(events) !== JSON.stringify(submitted)) throw new Error(`other events are there ${when}`)
}
