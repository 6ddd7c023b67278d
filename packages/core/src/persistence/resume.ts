/** From a stored log to its one writer: lock, look, decide, and only then write (events-and-recovery, resume). */
import { type ArgumentCheck, anObject, checkedLater, must } from '../argument-checks.ts'
import { headReceipt } from '../event/event-json.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'
import { LOST_EVENT_TYPE } from '../event/lost-event.ts'
import { extensionTypes } from '../projection/extension-types.ts'
import type { LogFold } from '../projection/log-fold.ts'
import { PartialAnswer } from '../projection/partial-answer.ts'
import type { RecoveryReport } from '../recovery/recovery-report.ts'
import { eventPages } from '../session/read-events.ts'
import type { Settings } from '../session/settings.ts'
import type { StorageReader, StorageWriter } from '../storage/session-storage.ts'
import { withReader } from '../storage/with-reader.ts'
import { checkHead, type LoadedLog, loadLog } from './load-log.ts'
import { loadPartialAnswer, planRecovery, type RecoveryPlan } from './plan-recovery.ts'
import type { ReconciledResult, ResumeOptions } from './session-persistence.ts'
import { unknownEventError, unknownTypes } from './unknown-types.ts'

export interface ResumedLog {
  readonly fold: LogFold
  readonly head: HeadReceipt
  readonly recovery: RecoveryReport
  readonly partial: PartialAnswer
  readonly snapshotSeq: number
}

/** What a look at the log decided, with nothing written yet. */
interface Findings {
  readonly head: HeadReceipt
  readonly snapshotSeq: number
  readonly partial: PartialAnswer
  readonly report: RecoveryReport
  readonly plan: RecoveryPlan
}

/**
 * Everything before the first write may refuse; from then on the steps are cut, upgrade, close, each atomic.
 * `compareKnown`: see `LoadOptions.witness.always`.
 */
export async function recoverLog(
  writer: StorageWriter,
  settings: Settings,
  options: ResumeOptions,
  compareKnown: boolean,
): Promise<ResumedLog> {
  const found: Findings = await withReader(writer.openReader(), (reader) =>
    look(reader, settings, options, compareKnown),
  )
  options.signal?.throwIfAborted()
  const torn = writer.tail.torn === undefined ? undefined : await writer.discardTornTail()
  const upgraded = await upgrade(writer, settings)
  if (found.plan.events.length > 0) await writer.append(found.plan.events)
  else await writer.settle()
  const last = found.plan.events.at(-1)
  const isClosed = last !== undefined && options.openTurn !== 'keep'
  return {
    fold: found.plan.fold,
    head: last === undefined ? found.head : headReceipt(last),
    partial: isClosed ? new PartialAnswer() : found.partial,
    snapshotSeq: found.snapshotSeq,
    recovery: {
      ...found.report,
      closed: isClosed ? found.plan.events : [],
      ...(torn === undefined ? {} : { torn }),
      ...(upgraded === undefined ? {} : { upgraded }),
    },
  }
}

async function look(
  reader: StorageReader,
  settings: Settings,
  options: ResumeOptions,
  compareKnown: boolean,
): Promise<Findings> {
  const { signal } = options
  if (options.expectHead !== undefined) await checkHead(reader, settings, options.expectHead)
  const witness = { always: compareKnown }
  const loaded = await loadLog(reader, settings, { witness, ...(signal === undefined ? {} : { signal }) })
  const { fold, head, snapshotSeq, missing } = loaded
  const unknown = unknownTypes(settings, fold.state(extensionTypes))
  if (unknown.length > 0 && options.preserveUnknown !== true) throw unknownEventError(unknown)
  const partial = await loadPartialAnswer(reader, settings, fold)
  const isUnsaid = missing !== undefined && fold.openCalls().some(({ tier }) => tier === 'not-started')
  if (missing !== undefined) fold.loseNext()
  const openCalls = fold.openCalls()
  const report: RecoveryReport = {
    survived: fold.nextSeq,
    openCalls,
    closed: [],
    ...(missing === undefined ? {} : { missing }),
    ...(fold.openTurn === undefined ? {} : { openTurn: fold.openTurn }),
  }
  if (options.openTurn === 'keep') {
    return { head, snapshotSeq, partial, report, plan: isUnsaid ? sayLost(reader, loaded) : { events: [], fold } }
  }
  const results = await reconcile(fold, options)
  const plan = planRecovery(reader, settings, loaded, partial, {
    keepPartialAnswer: options.keepPartialAnswer ?? true,
    results,
  })
  return { head, snapshotSeq, partial, report, plan }
}

/**
 * A resume that keeps the turn open adds nothing, but for this: once later events stand where some are missing, nothing
 * else would tell that a call which was asked for before them may have been begun.
 */
function sayLost(reader: StorageReader, { fold, lastTime }: LoadedLog): RecoveryPlan {
  const after = fold.clone()
  const time = lastTime ?? reader.header.createdAt
  const standIn = { seq: after.nextSeq, time, type: LOST_EVENT_TYPE, data: {}, ignorable: true } as const
  after.accept(standIn)
  return { events: [standIn], fold: after }
}

/** A caller's promise that never settles must not hold the lock for ever. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    Promise.resolve(promise)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort))
  })
}

async function reconcile(fold: LogFold, options: ResumeOptions): Promise<ReadonlyMap<string, ReconciledResult>> {
  const results = new Map<string, ReconciledResult>()
  if (options.reconcile === undefined) return results
  const signal = options.signal ?? new AbortController().signal
  for (const call of fold.openCalls()) {
    if (call.tier === 'not-started') continue
    signal.throwIfAborted()
    const result = await unlessAborted(answer(options.reconcile(call, signal), 'the result of reconcile'), signal)
    if (result !== undefined) results.set(call.callId, reconciledResult(result, 'the result of reconcile'))
  }
  return results
}

function isReadable(value: object): boolean {
  Reflect.get(value, 'then')
  return true
}

/** Awaiting what cannot be read would throw the proxy's own error. */
const answer: ArgumentCheck<Promise<ReconciledResult | undefined>> = must(
  'a promise of a result',
  (value) => typeof value !== 'object' || value === null || isReadable(value),
)

/** Its content is judged as that of any `tool/result`. */
const reconciledResult: ArgumentCheck<ReconciledResult> = anObject<ReconciledResult>(
  { message: checkedLater(), error: checkedLater(), meta: checkedLater() },
  ['message'],
)

/** Persists an older log in the current format; the original bytes stay beside it. */
async function upgrade(writer: StorageWriter, settings: Settings): Promise<RecoveryReport['upgraded']> {
  const from = writer.header.version
  const to = settings.upgrades.current
  if (from === to) return undefined
  return withReader(writer.openReader(), async (reader) => {
    const header = settings.upgrades.header(reader.header)
    // It is stamped with an event of the old format: beside the new log it would seem to know of another event.
    await writer.saveDerived('summary', '').catch(() => {})
    const originalAt = await writer.rewrite(header, eventPages(reader, settings.upgrades, {}), `v${from}`)
    return { from, to, ...(originalAt === undefined ? {} : { originalAt }) }
  })
}
