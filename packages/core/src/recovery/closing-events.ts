import { isSessionError, SessionError } from '../errors.ts'
import type { EventInput } from '../event/event.ts'
import { isStrayPromise } from '../event/stray-promise.ts'
import type { InTurn, SessionEventMap, TurnEndReason } from '../event/vocabulary.ts'
import type { CallOutcome, MessageFormat, PartialBlock } from '../message-format/message-format.ts'
import type { LogFold } from '../projection/log-fold.ts'
import { requestHeaderProjection } from '../projection/request-header.ts'
import { turnsProjection } from '../projection/turns.ts'
import type { OpenCall, ReconciledResult } from './open-calls.ts'

export interface ClosingOptions {
  readonly reason: TurnEndReason
  /** The session's message format; undefined when this program does not have it. */
  readonly format: MessageFormat | undefined
  /** Of the unfinished answer, from `PartialAnswer`. */
  readonly blocks: readonly PartialBlock[]
  readonly keepPartialAnswer: boolean
  /** Results were lost to damage, and so may be what says that a call was begun. */
  readonly isDamaged?: boolean
  /** Real results of open calls, by call id. */
  readonly results?: ReadonlyMap<string, ReconciledResult>
}

/**
 * The events that close what is open, in the order of events-and-recovery, "closing what is open": the unfinished
 * answer, one result an open call, the compaction, the step, the turn. Empty when nothing is open. The same function
 * serves a live `closeTurn` and recovery.
 * @throws SessionError NOT_SUPPORTED when a message is needed in a format that is not there.
 */
export function closingEvents(fold: LogFold, options: ClosingOptions): EventInput[] {
  const turns = fold.state(turnsProjection)
  const { openTurn: turn, openStep: step, compaction } = turns
  const place: InTurn = { ...(turn !== undefined && { turn }), ...(step !== undefined && { step }) }
  const events: EventInput[] = []

  const answer = partialAnswer(fold, place, options)
  if (answer !== undefined) events.push({ type: 'assistant/message', data: answer })
  for (const call of fold.openCalls()) events.push({ type: 'tool/result', data: resultOf(call, place, options) })
  if (compaction !== undefined) {
    const { compactionId } = compaction
    const named = compactionId === undefined ? {} : { compactionId }
    events.push({ type: 'compaction/end', data: { ...place, ...named, outcome: 'interrupted' } })
  }
  if (turn !== undefined && step !== undefined) events.push({ type: 'step/end', data: { turn, step } })
  if (turn !== undefined) events.push({ type: 'turn/end', data: { turn, reason: options.reason } })
  return events
}

function partialAnswer(
  fold: LogFold,
  place: InTurn,
  { format, blocks, keepPartialAnswer }: ClosingOptions,
): SessionEventMap['assistant/message'] | undefined {
  // While calls are open the step has its answer, and a second one would break the grammar.
  if (!keepPartialAnswer || fold.answerStart === undefined || fold.openCalls().length > 0) return undefined
  if (!blocks.some((block) => block.kind === 'text' && block.text !== '')) return undefined
  const message = made(() => present(format).partialAssistant(blocks))
  if (message === undefined) return undefined
  const model = fold.state(requestHeaderProjection)?.model
  return { ...place, message, toolCalls: [], ...(model !== undefined && { model }), interrupted: true }
}

function resultOf(call: OpenCall, place: InTurn, options: ClosingOptions): SessionEventMap['tool/result'] {
  const { callId, name, arguments: args, idempotencyKey, externalId } = call
  const isDamaged = options.isDamaged === true
  // Whether it was begun cannot be told where its record may be lost: it must not be called safe to run.
  const tier = isDamaged && call.tier === 'not-started' ? 'outcome-unknown' : call.tier
  const isUntold = tier === 'outcome-unknown' && call.begunAt === undefined
  const real = options.results?.get(callId)
  if (real !== undefined) {
    const { message, error, meta } = real
    return { ...place, callId, message, ...(error !== undefined && { error }), ...(meta !== undefined && { meta }) }
  }
  const synthetic = {
    tier,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(externalId !== undefined && { externalId }),
  }
  const kind = outcomeOf(options.reason)
  const why = isDamaged || isUntold ? LOST : STOPPED[kind]
  const text = `${why} ${isUntold ? UNTOLD : advice(call)}`
  const outcome: CallOutcome = { kind, ...synthetic, text }
  const message = made(() => present(options.format).toolResult({ callId, name, arguments: args }, outcome))
  return { ...place, callId, message, synthetic }
}

function outcomeOf({ kind }: TurnEndReason): CallOutcome['kind'] {
  return kind === 'cancelled' || kind === 'failed' ? kind : 'interrupted'
}

const STOPPED: { readonly [Kind in CallOutcome['kind']]: string } = {
  interrupted: 'There is no result, because the session was interrupted before this tool call returned one.',
  cancelled: 'There is no result, because the turn was cancelled before this tool call returned one.',
  failed: 'There is no result, because the turn failed before this tool call returned one.',
}

const LOST = 'The result of this tool call, if there was one, was lost when the log of the session was damaged.'
const UNTOLD = 'Whether the tool ran is not known; verify the outcome or ask, and do not just call it again.'

function advice({ tier, idempotencyKey, externalId }: OpenCall): string {
  switch (tier) {
    case 'not-started':
      return 'The tool was never started, so nothing has happened and it is safe to call it.'
    case 'safe-to-retry':
      return idempotencyKey === undefined
        ? 'The tool may have run, but calling it again does no harm.'
        : `The tool may have run, but calling it again with the idempotency key ${idempotencyKey} does no harm.`
    case 'reconcile':
      return `The tool was started and may have taken effect; look up ${externalId ?? 'its external id'} to learn the outcome before you do anything again.`
    case 'outcome-unknown':
      return 'The tool was started and may have taken effect; verify the outcome or ask, and do not just call it again.'
  }
}

/** A format is synchronous; the promise of one that is not must not end the process when it rejects. */
function made(make: () => unknown): unknown {
  let message: unknown
  try {
    message = make()
  } catch (cause) {
    if (isSessionError(cause)) throw cause
    throw new SessionError('INVALID_ARGUMENT', 'a message format threw', { cause })
  }
  if (!isStrayPromise(message)) return message
  throw new SessionError('INVALID_ARGUMENT', 'a message format must be synchronous: it returned a promise')
}

function present(format: MessageFormat | undefined): MessageFormat {
  if (format !== undefined) return format
  throw new SessionError('NOT_SUPPORTED', 'closing the turn needs a message in a format that was not given at open')
}
