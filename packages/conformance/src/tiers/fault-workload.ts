/** What the processes of both tiers do to the medium, and what is looked for afterwards. */
import {
  type AnySessionEvent,
  type EventInput,
  isSessionError,
  type SessionPersistence,
} from '@session-persistence/core'
import type { CaseContext } from '../conformance-case.ts'
import { storedEvents } from '../stored-events.ts'
import type { WorkerStep } from '../worker-process.ts'
import { plainMessage } from '../workload.ts'
import { brokenPromise, type Promises } from './promises.ts'

/** A session that stays, and one that is deleted in the end. */
export const KEPT = 'kept'
export const PASSING = 'passing'

/** Characters of the messages of one append: small ones, and one over several sectors and pages. */
const LENGTHS = [30, 200, 1_000] as const
const LONG = 9_000

function messages(name: string, lengths: readonly number[]): readonly EventInput[] {
  return lengths.map((length, index) => ({
    type: 'user/message' as const,
    data: { message: plainMessage('user', `${name}, ${index}: `.padEnd(length, `${name} `)) },
  }))
}

function store(id: string, name: string, lengths: readonly number[] = LENGTHS): readonly WorkerStep[] {
  return [
    { do: 'append', id, events: messages(name, lengths) },
    { do: 'flush', id },
  ]
}

/** Everything from nothing: two sessions, one closed, resumed and continued, the other deleted. */
export const STORE: readonly WorkerStep[] = [
  { do: 'create', id: KEPT },
  ...store(KEPT, 'first'),
  ...store(KEPT, 'second', [...LENGTHS, LONG]),
  { do: 'create', id: PASSING },
  ...store(PASSING, 'passing'),
  { do: 'close', id: PASSING },
  ...store(KEPT, 'third', [10]),
  { do: 'close', id: KEPT },
  { do: 'resume', id: KEPT },
  ...store(KEPT, 'fourth'),
  { do: 'delete', id: PASSING },
  ...store(KEPT, 'fifth', [40, 40]),
  { do: 'close', id: KEPT },
]

/** Going on with what was left, or anew where there is nothing. */
export function goOn(from: 'create' | 'resume'): readonly WorkerStep[] {
  return [{ do: from, id: KEPT }, ...store(KEPT, 'on'), ...store(KEPT, 'and on', [50]), { do: 'close', id: KEPT }]
}

/** The stored events of a session; undefined where there is none. */
export async function eventsOf(
  persistence: SessionPersistence,
  id: string,
): Promise<readonly AnySessionEvent[] | undefined> {
  try {
    return await storedEvents(persistence, id)
  } catch (error) {
    if (isSessionError(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

/** Undefined where the medium keeps the promises of these sessions, else a sentence. */
export async function lookFor(
  context: CaseContext,
  promises: Promises,
  ids: readonly string[] = [KEPT, PASSING],
): Promise<string | undefined> {
  return await typed(async () => {
    const persistence = await context.open()
    try {
      for (const id of ids) {
        const wrong = brokenPromise(promises.get(id), await eventsOf(persistence, id))
        if (wrong !== undefined) return `session ${id}: ${wrong}`
      }
      return undefined
    } finally {
      await persistence.close()
    }
  })
}

/** Undefined where the session goes on, or can be created again, and what is added to it is found. */
export async function continueIn(context: CaseContext, id: string): Promise<string | undefined> {
  return await typed(async () => {
    const persistence = await context.open()
    try {
      const found = await eventsOf(persistence, id)
      const session = found === undefined ? await persistence.create({ id }) : await persistence.resume(id)
      const added = session.appendAll(messages('later', [20, 20]))
      await session.close()
      const after = (await eventsOf(persistence, id)) ?? []
      const kept = JSON.stringify(after.slice(0, found?.length ?? 0)) === JSON.stringify(found ?? [])
      if (!kept) return `session ${id}: going on with it has changed what was there`
      return JSON.stringify(after.slice(-added.length)) === JSON.stringify(added)
        ? undefined
        : `session ${id}: what was added afterwards is not there`
    } finally {
      await persistence.close()
    }
  })
}

async function typed(look: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await look()
  } catch (error) {
    return isSessionError(error)
      ? `refused with ${error.code}: ${error.message}`
      : `an error without a type: ${String(error)}`
  }
}
