import type { AnySessionEvent } from '../event/event.ts'
import { isRecord } from '../event/json-shape.ts'
import { firstDifference } from '../projection/json-equality.ts'
import type { LogFold } from '../projection/log-fold.ts'
import type { CallRecord } from '../projection/step-calls.ts'
import { turnsProjection } from '../projection/turns.ts'

/** Where what comes behind may not go on what stands before. */
export interface Breaks {
  /** Seq of the newest lost event; -1 without one. */
  readonly lostTo: number
  /** Newest seq that another history claimed as well: what comes behind may be of that one; -1 without one. */
  readonly joinedTo: number
}

/**
 * Why it cannot be told what an event belongs to; undefined where it can. Outside a step each answer is its own scope of call
 * ids, so that behind a loss an id may be that of a call whose answer is lost; where two histories were joined that holds inside of a step, too, and for
 * what an unfinished answer went on with. The beginning, and worse the result, of one tool must not become that of another.
 */
export function doubtOf(event: AnySessionEvent, fold: LogFold, breaks: Breaks): string | undefined {
  const { lostTo, joinedTo } = breaks
  const { type, data, surface } = event
  if (surface !== undefined || !isRecord(data)) return undefined
  const turns = fold.state(turnsProjection)
  if (type === 'assistant/chunk') {
    // A stand-in ends the unfinished answer: what comes behind that is not taken for its rest.
    const isOther = turns.answerStart !== undefined && turns.answerStart <= joinedTo && lostTo <= joinedTo
    return isOther ? 'it may go on with another answer' : undefined
  }
  const call = turns.calls.get(String(data.callId))
  if (call === undefined) return undefined
  const since = sinceOf(type, call)
  if (since === undefined) return undefined
  if (since <= joinedTo) return 'its call may be another one'
  // Within a step no id comes twice.
  if (turns.openStep !== undefined || lostTo < since) return undefined
  return type === 'tool/call' && isSame(call, data) ? undefined : 'the answer that asked for its call may be lost'
}

/** From where on nothing must be lost. */
function sinceOf(type: string, { askedAt, begunAt }: CallRecord): number | undefined {
  if (type === 'tool/call') return askedAt
  return type === 'tool/execution' || type === 'tool/result' ? (begunAt ?? askedAt) : undefined
}

function isSame(
  asked: { readonly name: string; readonly arguments: unknown },
  begun: { readonly [key: string]: unknown },
): boolean {
  return asked.name === begun.name && firstDifference(asked.arguments, begun.arguments) === undefined
}
