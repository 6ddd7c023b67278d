import {
  type AnySessionEvent,
  type AppendOptions,
  type CallTier,
  checkGrammar,
  type EventType,
  isSessionError,
  type MessageFormat,
  type SessionEventMap,
  type ToolCall,
  type TurnEndReason,
} from '@session-persistence/core'
import type { ReportBuilder } from '../report/report-builder.ts'
import type { RawText } from '../source/decode-line.ts'
import type { AnswerInput, Imported, ResultInput, UserInput } from './event-inputs.ts'
import { InferredTimes } from './inferred-times.ts'
import { Place } from './place.ts'
import type { Moment } from './time-source.ts'

/** Characters of a kept text in one event; a multiple of four, so that parts of base64 stand for themselves. */
const PART_LENGTH = 4 * 1024 * 1024

/** A user message that came while calls were open: it waits for their results. */
interface HeldMessage {
  readonly input: UserInput
  readonly when: Moment
  readonly options: AppendOptions
  readonly placed: (seq: number) => void
}

/**
 * Puts a log together so that the grammar of core holds exactly: it numbers events, turns and steps, closes what a
 * source leaves open, and has every event judged by the same function that append and import use.
 */
export class LogAssembler {
  readonly place: Place = new Place()
  readonly report: ReportBuilder
  readonly #format: MessageFormat
  #page: AnySessionEvent[] = []
  /** Where another page has to begin, so that none is too large for a batch. */
  #cuts: number[] = []
  #nextSeq = 0
  readonly #inferred = new InferredTimes()
  #held: HeldMessage[] = []

  constructor(format: MessageFormat, report: ReportBuilder) {
    this.#format = format
    this.report = report
  }

  /** Seq of the next event. */
  get nextSeq(): number {
    return this.#nextSeq
  }

  /** How many events wait to be taken. */
  get pageLength(): number {
    return this.#page.length
  }

  /** The events made since the last call, in pages. */
  *take(): Generator<readonly AnySessionEvent[], void, undefined> {
    let start = 0
    for (const cut of [...this.#cuts, this.#page.length]) {
      if (cut > start) yield this.#page.slice(start, cut)
      start = cut
    }
    this.#page = []
    this.#cuts = []
  }

  /** Appends a core event unless the grammar refuses it here; then undefined. */
  add<T extends EventType>(
    type: T,
    data: SessionEventMap[T],
    when: Moment,
    options: AppendOptions = {},
  ): number | undefined {
    const { surface, sources } = options
    const seq = this.#nextSeq
    const event: AnySessionEvent = {
      seq,
      time: when.time,
      type,
      data,
      ...(surface !== undefined && { surface }),
      ...(sources !== undefined && sources.length > 0 && { sources }),
    }
    try {
      checkGrammar(this.place, event)
    } catch (error) {
      if (isSessionError(error, 'INVALID_EVENT')) return undefined
      throw error
    }
    this.#push(event, when)
    this.place.apply(event)
    return seq
  }

  /** Appends an ignorable extension event: always possible. */
  keep(type: `${string}/${string}`, data: unknown, when: Moment): number {
    const seq = this.#nextSeq
    this.#push({ seq, time: when.time, type, data, ignorable: true }, when)
    return seq
  }

  /** Says something about the import, mostly about the event at `about`. */
  note(kind: string, about: number | undefined, facts: { readonly [name: string]: unknown }, when: Moment): void {
    const data = { kind, ...(about !== undefined && { about }), ...facts }
    this.keep('interchange/note', data, { ...when, inferred: false })
  }

  /** Keeps bytes that are no record; a long text in parts, since escaping may make it six times as long. */
  damaged(
    line: { readonly number: number; readonly offset: number; readonly bytes: number },
    raw: RawText,
    when: Moment,
  ): void {
    const { reason, encoding, text } = raw
    const place = { line: line.number, offset: line.offset, bytes: line.bytes, reason, encoding }
    const parts = Math.max(1, Math.ceil(text.length / PART_LENGTH))
    for (let part = 0; part < parts; part++) {
      const own = text.slice(part * PART_LENGTH, (part + 1) * PART_LENGTH)
      const data = { ...place, ...(parts > 1 && { part, parts }), text: own }
      if (parts > 1) this.#cuts.push(this.#page.length)
      this.keep('interchange/damaged', data, { ...when, inferred: false })
    }
  }

  startTurn(when: Moment, facts: { readonly trigger?: unknown } & Imported = {}): number | undefined {
    if (this.place.turn !== undefined) {
      this.report.repairs.boundaries++
      this.endTurn({ kind: 'interrupted' }, when)
    }
    return this.add('turn/start', { turn: this.place.turnCount + 1, ...facts }, when)
  }

  /** Opens a turn if none is. */
  ensureTurn(when: Moment): void {
    if (this.place.turn !== undefined) return
    this.report.repairs.boundaries++
    this.startTurn(when)
  }

  startStep(when: Moment, facts: Imported = {}): number | undefined {
    this.ensureTurn(when)
    if (this.place.step !== undefined) {
      this.report.repairs.boundaries++
      this.endStep(when)
    }
    return this.add('step/start', { turn: this.place.turn ?? 0, step: this.place.stepCount + 1, ...facts }, when)
  }

  /** Undefined when no step is open. */
  endStep(when: Moment, facts: Imported = {}): number | undefined {
    const { turn, step } = this.place
    this.closeCalls(when)
    return turn === undefined || step === undefined ? undefined : this.add('step/end', { turn, step, ...facts }, when)
  }

  /** Undefined when no turn is open. */
  endTurn(reason: TurnEndReason, when: Moment, facts: Imported = {}): number | undefined {
    if (this.place.step !== undefined) {
      this.report.repairs.boundaries++
      this.endStep(when)
    } else this.closeCalls(when)
    const { turn } = this.place
    return turn === undefined ? undefined : this.add('turn/end', { turn, reason, ...facts }, when)
  }

  /** Gives every open call a synthetic result, as recovery would. */
  closeCalls(when: Moment): void {
    for (const call of this.place.calls.open()) {
      const tier: CallTier = call.begunAt === undefined ? 'not-started' : 'outcome-unknown'
      const { callId, name } = call
      const text =
        tier === 'not-started'
          ? 'There is no result in the imported log, and nothing there says that this tool call was started.'
          : 'There is no result in the imported log. The tool may have run: verify the outcome, and do not just call it again.'
      const message = this.#format.toolResult(
        { callId, name, arguments: call.arguments },
        { kind: 'interrupted', tier, text },
      )
      this.report.repairs.syntheticResults++
      this.add('tool/result', { ...this.place.inTurn, callId, message, synthetic: { tier } }, when)
    }
    this.#releaseHeld()
  }

  /**
   * A user message where the log stands. While calls are open it waits until they are answered: the model could not
   * have seen it before. `placed` hears its seq.
   */
  userMessage(input: UserInput, when: Moment, placed: (seq: number) => void, options: AppendOptions = {}): void {
    if (options.surface === undefined && this.place.calls.openCount > 0) {
      this.report.repairs.reordered++
      this.#held.push({ input, when, options, placed })
      return
    }
    const seq = this.#message('user/message', { ...this.place.inTurn, ...input }, when, options)
    if (seq !== undefined) placed(seq)
  }

  /**
   * An answer in the open step, which is opened if there is none. Calls that the source leaves open are closed first; an
   * id that the step has already asked for opens another step, and one that stands twice in the answer is asked for once.
   */
  answer(input: AnswerInput, when: Moment, options: AppendOptions = {}): number | undefined {
    const { place } = this
    const appended = options.surface === undefined
    if (place.step === undefined) {
      this.report.repairs.boundaries++
      this.startStep(when)
    } else if (appended && place.calls.openCount > 0) this.closeCalls(when)
    const toolCalls = [...new Map(input.toolCalls.map((call) => [call.callId, call])).values()]
    if (appended && toolCalls.some((call) => place.calls.get(call.callId) !== undefined)) {
      this.report.repairs.boundaries++
      this.startStep(when)
    }
    return this.#message('assistant/message', { ...place.inTurn, ...input, toolCalls }, when, options)
  }

  /** Undefined when the call is not open here, or was begun before. */
  beginCall(call: ToolCall & Imported, when: Moment, options: AppendOptions = {}): number | undefined {
    return this.add('tool/call', { ...this.place.inTurn, ...call }, when, options)
  }

  /** A result where its call is open; otherwise a user message, because the model saw it all the same. */
  result(input: ResultInput, when: Moment, placed: (seq: number) => void, options: AppendOptions = {}): void {
    const seq = this.#message('tool/result', { ...this.place.inTurn, ...input }, when, options)
    if (seq !== undefined) {
      placed(seq)
      this.#releaseHeld()
      return
    }
    this.report.repairs.orphanResults++
    const { callId, ...rest } = input
    this.userMessage({ ...rest, source: { kind: 'tool-result', callId } }, when, placed)
  }

  /** What stands at the end of the log. */
  finish(when: Moment): void {
    if (this.#held.length > 0) this.closeCalls(when)
    this.#noteInferredTimes(when)
  }

  #releaseHeld(): void {
    if (this.#held.length === 0 || this.place.calls.openCount > 0) return
    const held = this.#held
    this.#held = []
    for (const { input, when, placed, options } of held) this.userMessage(input, when, placed, options)
  }

  /** A message whose replacement is not possible here is appended, and the range is noted. */
  #message<T extends 'user/message' | 'assistant/message' | 'tool/result'>(
    type: T,
    data: SessionEventMap[T],
    when: Moment,
    options: AppendOptions,
  ): number | undefined {
    const seq = this.add(type, data, when, options)
    if (seq !== undefined || options.surface === undefined) return seq
    const { surface, ...rest } = options
    this.closeCalls(when)
    const appended = this.add(type, data, when, rest)
    if (appended === undefined) return undefined
    this.report.repairs.replacements++
    this.note('replacement-not-live', appended, { replace: surface.replace }, when)
    return appended
  }

  #push(event: AnySessionEvent, when: Moment): void {
    this.#page.push(event)
    this.#nextSeq++
    this.report.events++
    if (when.inferred) this.#inferred.add(event.seq)
    if (this.#inferred.isFull) this.#noteInferredTimes(when)
  }

  #noteInferredTimes(when: Moment): void {
    const ranges = this.#inferred.take()
    if (ranges.length > 0) this.note('inferred-times', undefined, { ranges }, when)
  }
}
