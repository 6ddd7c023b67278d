/** The starts and ends of turns and steps between where a damaged log stands and an event that was found behind a loss. */
import { isSessionError } from '../errors.ts'
import type { AnySessionEvent, EventInput } from '../event/event.ts'
import { checkEventBytes } from '../event/event-bytes.ts'
import { isRecord, isSeq } from '../event/json-shape.ts'
import { losslessCopy } from '../event/lossless-json.ts'
import type { MessageFormat } from '../message-format/message-format.ts'
import type { LogFold } from '../projection/log-fold.ts'
import { type TurnsState, turnsProjection } from '../projection/turns.ts'
import { closingEvents } from './closing-events.ts'

/** Where an event needs the log to stand. */
type Place =
  /** No turn is open, and, where it is told, this one is the next. */
  | { readonly inside: false; readonly turn: number | undefined }
  /** In this turn; in this step, in none (and `next` is the next one, where it is told), or in whichever is open. */
  | { readonly inside: true; readonly turn: number; readonly step: number | 'none' | 'any'; readonly next?: number }

/**
 * The events, at most `room`, after which `event` may follow `fold`, as far as open turns, steps, calls and compactions decide it;
 * none where that takes no event, or no such events exist; undefined where there would be more. What they hold follows from numbers alone; open calls get the
 * result of an interruption, in the message format of the log.
 */
export function bridgeTo(
  event: AnySessionEvent,
  fold: LogFold,
  room: number,
  format: MessageFormat | undefined,
): readonly EventInput[] | undefined {
  const closers = closersOf(fold, format)
  if (closers === undefined) return []
  const made: EventInput[] = []
  for (const one of needed(event, fold.state(turnsProjection), closers)) {
    made.push(one)
    // Also what keeps a forged number from making events without end.
    if (made.length > room) return undefined
  }
  return made
}

function* needed(
  event: AnySessionEvent,
  state: TurnsState,
  closers: readonly EventInput[],
): Generator<EventInput, void, undefined> {
  const { type, data } = event
  if (type === 'compaction/start') yield* closers.filter((closer) => closer.type === 'compaction/end')
  if (type === 'compaction/end' && state.compaction === undefined && isRecord(data)) {
    const { outcome: _, error: __, ...start } = data
    yield { type: 'compaction/start', data: start }
  }
  const place = placeOf(event)
  if (place === undefined) return
  let isElsewhere = false
  for (const one of wayTo(place, state, closers)) {
    isElsewhere = true
    yield one
  }
  // In the right place, where calls are open that must not be.
  if (!isElsewhere) yield* closers.filter((closer) => closer.type === 'tool/result')
}

function* wayTo(
  place: Place,
  state: TurnsState,
  closers: readonly EventInput[],
): Generator<EventInput, void, undefined> {
  const { turn } = place
  const stays = place.inside && turn === state.openTurn
  if (!stays) {
    // A compaction may go on behind the end of a turn.
    yield* closers.filter(({ type }) => type !== 'compaction/end')
    if (turn === undefined) return
    for (let missing = state.turns + 1; missing < turn; missing++) yield* wholeTurn(missing)
    if (!place.inside) return
    yield { type: 'turn/start', data: { turn } }
  }
  if (!place.inside || place.step === 'any') return
  const { step, next } = place
  const open = stays ? state.openStep : undefined
  if (step === open) return
  if (open !== undefined) yield* closers.filter(({ type }) => type === 'tool/result' || type === 'step/end')
  const wanted = step === 'none' ? (next ?? 0) : step
  for (let missing = (stays ? state.steps : 0) + 1; missing < wanted; missing++) yield* wholeStep(place.turn, missing)
  if (step !== 'none') yield { type: 'step/start', data: { turn: place.turn, step } }
}

function placeOf({ type, data }: AnySessionEvent): Place | undefined {
  if (!isRecord(data)) return undefined
  const { turn, step } = data
  // A message of the user that names no turn stands between two.
  if (turn === undefined) return type === 'user/message' ? { inside: false, turn } : undefined
  if (!isSeq(turn)) return undefined
  if (type === 'turn/start') return { inside: false, turn }
  if (type === 'turn/end') return { inside: true, turn, step: 'none' }
  if (!isSeq(step)) return { inside: true, turn, step: 'any' }
  return type === 'step/start' ? { inside: true, turn, step: 'none', next: step } : { inside: true, turn, step }
}

/**
 * What closes everything that is open; undefined when that takes a message in a format that was not given. A format that makes no message
 * fails the repair as it would fail a resume: INVALID_ARGUMENT, INVALID_EVENT, TOO_LARGE.
 */
function closersOf(fold: LogFold, format: MessageFormat | undefined): readonly EventInput[] | undefined {
  try {
    return closingEvents(fold, {
      reason: { kind: 'interrupted' },
      format,
      blocks: [],
      keepPartialAnswer: false,
      isDamaged: true,
    }).map(checked)
  } catch (error) {
    if (isSessionError(error, 'NOT_SUPPORTED')) return undefined
    throw error
  }
}

/** What a message format makes is judged as what a harness appends: INVALID_EVENT, TOO_LARGE. */
function checked({ type, data }: EventInput): EventInput {
  const copy = losslessCopy(data, '$.data')
  checkEventBytes({ seq: Number.MAX_SAFE_INTEGER, time: Number.MAX_SAFE_INTEGER, type, data: copy.value }, copy.size)
  return { type, data: copy.value } as EventInput
}

function wholeTurn(turn: number): readonly EventInput[] {
  return [
    { type: 'turn/start', data: { turn } },
    { type: 'turn/end', data: { turn, reason: { kind: 'interrupted' } } },
  ]
}

function wholeStep(turn: number, step: number): readonly EventInput[] {
  return [
    { type: 'step/start', data: { turn, step } },
    { type: 'step/end', data: { turn, step } },
  ]
}
