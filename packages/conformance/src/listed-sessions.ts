import type { ListOptions, SessionPersistence, SessionSummary } from '@session-persistence/core'
import type { CaseContext } from './conformance-case.ts'
import { expectThat } from './expectation.ts'
import { storeSession } from './stored-events.ts'
import { plainMessage } from './workload.ts'

export async function storeMessage(persistence: SessionPersistence, id: string): Promise<void> {
  await storeSession(persistence, id, [[{ type: 'user/message', data: { message: plainMessage('user', id) } }]])
}

/** Sessions with one event each, at the given times. */
export async function openAt(
  context: CaseContext,
  times: { readonly [id: string]: number },
): Promise<SessionPersistence> {
  let now = 0
  const persistence = await context.open({ clock: () => now })
  for (const [id, time] of Object.entries(times)) {
    now = time
    await storeMessage(persistence, id)
  }
  return persistence
}

export function idsOf(sessions: readonly SessionSummary[]): readonly string[] {
  return sessions.map(({ id }) => id)
}

export async function summaryOf(persistence: SessionPersistence, id: string): Promise<SessionSummary> {
  const found = (await persistence.list()).sessions.find((summary) => summary.id === id)
  expectThat(found !== undefined, `session ${id} is not in the list`)
  return found
}

/** Every page from the given one on. A listing that goes in circles ends after far more pages than it can need. */
export async function everyPage(
  persistence: SessionPersistence,
  options: ListOptions,
): Promise<readonly SessionSummary[]> {
  const all: SessionSummary[] = []
  let { cursor } = options
  for (let pages = 0; pages < 2000; pages += 1) {
    const page = await persistence.list({ ...options, ...(cursor === undefined ? {} : { cursor }) })
    expectThat(page.sessions.length <= (options.limit ?? 50), 'a page is longer than its limit')
    all.push(...page.sessions)
    cursor = page.cursor
    if (cursor === undefined) return all
  }
  throw new Error('the pages never end')
}
