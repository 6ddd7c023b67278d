import type { AnySessionEvent } from '../event/event.ts'
import { isRecord } from '../event/json-shape.ts'
import { firstDifference } from '../projection/json-equality.ts'
import type { LogFold } from '../projection/log-fold.ts'
import { turnsProjection } from '../projection/turns.ts'

/**
 * Why it cannot be told which call an event is of; undefined where it can. Outside a step each answer is its own scope of call
 * ids, so that behind a loss an id may be that of a call whose answer is lost: the beginning, and worse the result, of one tool
 * must not become that of another.
 *
 * @param lostTo seq of the newest lost event before this one
 */
export function doubtOfCall(
  { type, data, surface }: AnySessionEvent,
  fold: LogFold,
  lostTo: number,
): string | undefined {
  if (surface !== undefined || !isRecord(data)) return undefined
  const turns = fold.state(turnsProjection)
  // Within a step no id comes twice.
  if (turns.openStep !== undefined) return undefined
  const call = turns.calls.get(String(data.callId))
  if (call === undefined) return undefined
  switch (type) {
    case 'tool/call':
      if (lostTo < call.askedAt || isSame(call, data)) return undefined
      break
    case 'tool/execution':
    case 'tool/result':
      if (lostTo < (call.begunAt ?? call.askedAt)) return undefined
      break
    default:
      return undefined
  }
  return 'the answer that asked for its call may be lost'
}

function isSame(
  asked: { readonly name: string; readonly arguments: unknown },
  begun: { readonly [key: string]: unknown },
): boolean {
  return asked.name === begun.name && firstDifference(asked.arguments, begun.arguments) === undefined
}
