/** What closing the open turn of a stored log takes: computed alike for a resume, which commits it, and a view, which shows it. */
import type { AnySessionEvent } from '../event/event.ts'
import type { LogFold } from '../projection/log-fold.ts'
import { PartialAnswer } from '../projection/partial-answer.ts'
import { checkBatchBytes, intake } from '../session/event-intake.ts'
import { planClosers } from '../session/plan-closers.ts'
import { eventPages } from '../session/read-events.ts'
import type { Settings } from '../session/settings.ts'
import type { StorageReader } from '../storage/session-storage.ts'
import type { LoadedLog } from './load-log.ts'
import type { ReconciledResult } from './session-persistence.ts'

export interface RecoveryPlan {
  readonly events: readonly AnySessionEvent[]
  /** The fold after the events; the given one is left as it was. */
  readonly fold: LogFold
}

/** The blocks of the answer that was being streamed, reread from where it began. */
export async function loadPartialAnswer(
  reader: StorageReader,
  settings: Settings,
  fold: LogFold,
): Promise<PartialAnswer> {
  const partial = new PartialAnswer()
  const from = fold.answerStart
  if (from === undefined) return partial
  for await (const page of eventPages(reader, settings.upgrades, { from, to: fold.nextSeq - 1 })) {
    for (const event of page) partial.accept(event)
  }
  return partial
}

/** NOT_SUPPORTED when a closer would need a message format that was not given. */
export function planRecovery(
  reader: StorageReader,
  settings: Settings,
  { fold, lastTime }: Pick<LoadedLog, 'fold' | 'lastTime'>,
  partial: PartialAnswer,
  options: { readonly keepPartialAnswer: boolean; readonly results?: ReadonlyMap<string, ReconciledResult> },
): RecoveryPlan {
  const inputs = planClosers(fold, {
    reason: { kind: 'interrupted' },
    format: settings.formats.get(reader.header.messageFormat),
    blocks: partial.blocks(),
    keepPartialAnswer: options.keepPartialAnswer,
    ...(options.results === undefined ? {} : { results: options.results }),
  })
  const after = fold.clone()
  // The time of the last real event: a recovery says nothing about when the turn ended.
  const time = lastTime ?? reader.header.createdAt
  const accepted = inputs.map((input) => {
    const next = intake(input, after.nextSeq, time, settings)
    after.accept(next.event)
    return next
  })
  checkBatchBytes(accepted)
  return { events: accepted.map(({ event }) => event), fold: after }
}
