import type { AnySessionEvent, EventInput } from '@session-persistence/core'
import type { CaseContext, CaseNeeds } from './conformance-case.ts'
import { type LocatedLog, mapStoredLog } from './located-log.ts'
import { storeSession } from './stored-events.ts'
import { plainMessage } from './workload.ts'

/** Damaging at every byte takes longer than a case usually may. */
export const MEDIUM: CaseNeeds = { tier: 'medium', timeoutMs: 110_000 }
/** Clauses about damage that only a checksum shows. */
export const CHECKED: CaseNeeds = { ...MEDIUM, capabilities: { integrity: ['checksum'] } }

/** A log small enough to damage at every byte: three batches, five events. */
export const BATCHES: readonly (readonly EventInput[])[] = [
  [message('one'), message('two')],
  [message('three')],
  [message('four'), message('five')],
]

export function message(text: string): EventInput {
  return { type: 'user/message', data: { message: plainMessage('user', text) } }
}

/** The small log, stored and closed, with a part for each batch. */
export async function storeMapped(context: CaseContext): Promise<LocatedLog> {
  const persistence = await context.open()
  const log = await mapStoredLog(context, persistence, 's', BATCHES)
  await persistence.close()
  return log
}

/** The small log, stored and closed. */
export async function storeSmall(context: CaseContext): Promise<readonly AnySessionEvent[]> {
  const persistence = await context.open()
  const events = await storeSession(persistence, 's', BATCHES)
  await persistence.close()
  return events
}
