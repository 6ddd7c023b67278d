/** What the next process does with a session after a crash: looks, resumes or creates, and goes on. */
import type { AnySessionEvent, SessionStorage } from '@session-persistence/core'
import { type Expectation, violation } from './expectation.ts'
import { readSession } from './read-session.ts'
import { sampleHeader } from './sample-events.ts'

/** Undefined when all went well. `promise` hears what a reader must find from then on. */
export async function recoverAndContinue(
  storage: SessionStorage,
  expected: Expectation,
  promise: (expected: Expectation) => void,
): Promise<string | undefined> {
  const { id } = expected
  try {
    const found = await readSession(storage, id)
    const wrong = violation(expected, found)
    if (wrong !== undefined) return wrong
    const header = sampleHeader(id)
    const writer = await storage.openWriter(id, found === undefined ? { kind: 'create', header } : { kind: 'resume' })
    const { nextSeq, torn } = writer.tail
    if (nextSeq !== (found?.length ?? 0)) return `a reader finds ${found?.length ?? 'no'} events, a writer ${nextSeq}`
    if (torn !== undefined) await writer.discardTornTail()
    const next: AnySessionEvent = { seq: nextSeq, time: 1, type: 'acme/next', data: { a: 'x' }, ignorable: true }
    const whole = [...(found ?? []), next]
    // While it is not acknowledged, the events of either time may be found.
    promise({
      ...expected,
      histories: [...expected.histories, { events: whole, atLeast: found === undefined ? 0 : leastOf(expected) }],
      absent: found === undefined ? 'allowed' : expected.absent,
    })
    await writer.append([next])
    promise({ id, histories: [{ events: whole, atLeast: whole.length }], absent: 'forbidden' })
    await writer.close()
    return undefined
  } catch (error) {
    return String(error)
  }
}

function leastOf({ histories }: Expectation): number {
  return histories.length === 0 ? 0 : Math.min(...histories.map(({ atLeast }) => atLeast))
}
