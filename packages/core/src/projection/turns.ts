import type { AnySessionEvent, SessionEvent } from '../event/event.ts'
import { isOptional, isRecord, isSeq, isString, isToolEffect } from '../event/json-shape.ts'
import { LOST_EVENT_TYPE } from '../event/lost-event.ts'
import type { SessionEventMap } from '../event/vocabulary.ts'
import type { Projection } from './projection.ts'
import { refuse } from './saved-state.ts'
import type { CallRecord } from './step-calls.ts'
import { StepCalls } from './step-calls.ts'

/** What is open: turn, step, calls, compaction, and the answer that is being made. */
export interface TurnsState {
  /** Turns started so far, which is the number of the newest. */
  readonly turns: number
  readonly openTurn: number | undefined
  /** Steps started in the newest turn, which is the number of its newest. */
  readonly steps: number
  readonly openStep: number | undefined
  /** Calls of the open step; outside a step, of the newest answer. */
  readonly calls: StepCalls
  readonly compaction: { readonly seq: number; readonly compactionId?: string } | undefined
  /** `attempt` of the newest `request/sent` of the open step; 0 before the first. */
  readonly attempt: number
  /**
   * Seq of the newest `request/sent` or `step/start` of the open step; undefined once it has its message. What an
   * unfinished answer is made of comes after it.
   */
  readonly answerStart: number | undefined
  /** Seq of the newest event that is lost: what it said of the calls asked for before it is not known. */
  readonly lostAt: number | undefined
}

const INITIAL: TurnsState = {
  turns: 0,
  openTurn: undefined,
  steps: 0,
  openStep: undefined,
  calls: StepCalls.none,
  compaction: undefined,
  attempt: 0,
  answerStart: undefined,
  lostAt: undefined,
}

const NO_STEP = { openStep: undefined, calls: StepCalls.none, attempt: 0, answerStart: undefined } as const

/** Turns, steps and calls. The grammar judges the next event by it, and recovery closes what it says is open. */
export const turnsProjection: Projection<TurnsState> = {
  name: 'turns',
  version: 2,
  initial: () => INITIAL,
  apply(state: TurnsState, any: AnySessionEvent): TurnsState {
    const event = any as SessionEvent
    switch (event.type) {
      case 'turn/start':
        return { ...state, ...NO_STEP, turns: event.data.turn, openTurn: event.data.turn, steps: 0 }
      case 'turn/end':
        return { ...state, ...NO_STEP, openTurn: undefined }
      case 'step/start':
        return { ...state, ...NO_STEP, steps: event.data.step, openStep: event.data.step, answerStart: event.seq }
      case 'step/end':
        return { ...state, ...NO_STEP }
      case 'request/sent':
        return { ...state, attempt: event.data.attempt, answerStart: event.seq }
      case 'assistant/message':
        return event.surface === undefined ? answered(state, event.seq, event.data) : state
      case 'tool/call':
        return begun(state, event.seq, event.data)
      case 'tool/execution':
        return executed(state, event.data)
      case 'tool/result':
        return event.surface === undefined ? returned(state, event.data.callId) : state
      case 'compaction/start':
        return { ...state, compaction: openCompaction(event.seq, event.data.compactionId) }
      case 'compaction/end':
        return { ...state, compaction: undefined }
      default:
        return any.type === LOST_EVENT_TYPE ? withLoss(state, any.seq) : state
    }
  },
  save: (state: TurnsState) => ({ ...state, calls: state.calls.all() }),
  load: loadTurns,
}

/** An event that was stored once, at this seq or behind it, is lost. */
export function withLoss(state: TurnsState, seq: number): TurnsState {
  return { ...state, lostAt: seq }
}

function answered(state: TurnsState, seq: number, data: SessionEventMap['assistant/message']): TurnsState {
  // Outside a step each answer is its own scope of call ids.
  const scope = state.openStep === undefined ? StepCalls.none : state.calls
  const asked = data.toolCalls.map(
    (call): CallRecord => ({
      callId: call.callId,
      name: call.name,
      arguments: call.arguments,
      ...(data.turn !== undefined && { turn: data.turn }),
      ...(data.step !== undefined && { step: data.step }),
      askedAt: seq,
    }),
  )
  return { ...state, calls: scope.ask(asked), answerStart: undefined }
}

function begun(state: TurnsState, seq: number, data: SessionEventMap['tool/call']): TurnsState {
  const { effect, idempotencyKey } = data
  const facts = { begunAt: seq, ...(effect && { effect }), ...(idempotencyKey !== undefined && { idempotencyKey }) }
  return { ...state, calls: state.calls.update(data.callId, (record) => ({ ...record, ...facts })) }
}

function executed(state: TurnsState, { callId, externalId }: SessionEventMap['tool/execution']): TurnsState {
  if (externalId === undefined) return state
  return { ...state, calls: state.calls.update(callId, (record) => ({ ...record, externalId })) }
}

function returned(state: TurnsState, callId: string): TurnsState {
  // Its arguments may be large and are needed no more.
  return { ...state, calls: state.calls.update(callId, (record) => ({ ...record, arguments: null, answered: true })) }
}

function openCompaction(seq: number, compactionId: unknown): TurnsState['compaction'] {
  return typeof compactionId === 'string' ? { seq, compactionId } : { seq }
}

function loadTurns(saved: unknown): TurnsState {
  if (!isRecord(saved)) return refuse('turns')
  const { turns, openTurn, steps, openStep, compaction, attempt, answerStart, lostAt } = saved
  if (!isSeq(turns) || !isSeq(steps) || !isSeq(attempt)) return refuse('counts')
  if (!isOptional(answerStart, isSeq) || !isOptional(lostAt, isSeq)) return refuse('places')
  if (openTurn !== undefined && openTurn !== turns) return refuse('an open turn')
  if (openStep !== undefined && (openStep !== steps || openTurn === undefined)) return refuse('an open step')
  if (compaction !== undefined && (!isRecord(compaction) || !isSeq(compaction.seq))) return refuse('a compaction')
  if (!Array.isArray(saved.calls)) return refuse('calls')
  const calls = StepCalls.from(saved.calls.map(loadCall)) ?? refuse('calls')
  return {
    turns,
    openTurn: openTurn === undefined ? undefined : turns,
    steps,
    openStep: openStep === undefined ? undefined : steps,
    calls,
    compaction: compaction && openCompaction(Number(compaction.seq), compaction.compactionId),
    attempt,
    answerStart,
    lostAt,
  }
}

function loadCall(saved: unknown): CallRecord {
  if (!isRecord(saved) || !isString(saved.callId) || !isString(saved.name)) return refuse('a call')
  const { turn, step, askedAt, begunAt, effect, idempotencyKey, externalId, answered } = saved
  if (!isOptional(turn, isSeq) || !isOptional(step, isSeq) || !isSeq(askedAt)) return refuse('the place of a call')
  if (!isOptional(begunAt, isSeq) || !isOptional(effect, isToolEffect)) return refuse('the start of a call')
  if (!isOptional(idempotencyKey, isString) || !isOptional(externalId, isString)) return refuse('the keys of a call')
  if (answered !== undefined && answered !== true) return refuse('the end of a call')
  return {
    callId: saved.callId,
    name: saved.name,
    arguments: saved.arguments,
    ...(turn !== undefined && { turn }),
    ...(step !== undefined && { step }),
    askedAt,
    ...(begunAt !== undefined && { begunAt }),
    ...(effect !== undefined && { effect }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(externalId !== undefined && { externalId }),
    ...(answered !== undefined && { answered }),
  }
}
