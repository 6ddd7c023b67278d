import { SessionError } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import { checkChunkPlace, checkGrammar } from '../event/grammar.ts'
import type { GrammarState } from '../event/grammar-rule.ts'
import { isStrayPromise } from '../event/stray-promise.ts'
import type { OpenCall } from '../recovery/open-calls.ts'
import { openCallsOf } from '../recovery/open-calls.ts'
import type { ElidedChunks } from '../storage/session-storage.ts'
import type { CoreStates } from './core-states.ts'
import { applyCore, CORE_PROJECTIONS, coreStateOf, initialCore } from './core-states.ts'
import type { LastRequest } from './last-request.ts'
import { lastRequestOf } from './last-request.ts'
import type { ModelContext } from './model-context.ts'
import { modelContextOf } from './model-context.ts'
import type { Projection } from './projection.ts'
import type { Summary } from './summary.ts'
import { summaryOf } from './summary.ts'
import type { SurfaceEntry } from './surface.ts'
import { withLoss } from './turns.ts'
import type { UsageState } from './usage.ts'

/** Everything that a fold is, as values that nobody changes: what `clone` copies and a snapshot restores. */
export interface FoldContent {
  readonly nextSeq: number
  readonly lastTime: number | undefined
  readonly core: CoreStates
  /** States of the given projections, in their order. */
  readonly given: readonly unknown[]
}

/**
 * What a session holds in the place of its log: the state of every projection, kept current event by event. Events are
 * judged before they are applied, and an event that is refused changes nothing. An `assistant/chunk` reaches only the
 * projections that ask for chunks.
 */
export class LogFold {
  readonly projections: readonly Projection[]
  /** True when a projection asks for chunks, so that none may be elided. */
  readonly needsChunks: boolean
  #nextSeq = 0
  #lastTime: number | undefined
  #lastEvent: AnySessionEvent | undefined
  #core: CoreStates
  /** The part of the core states that the grammar sees; kept, because chunks, which are most events, change none. */
  #judging: GrammarState
  #given: readonly unknown[]

  /** @throws SessionError INVALID_ARGUMENT for a projection of the wrong form, or a name that is taken. */
  constructor(projections: readonly Projection[] = [], content?: FoldContent) {
    if (content === undefined) checkProjections(projections)
    this.projections = projections
    this.needsChunks = projections.some((projection) => projection.chunks === true)
    this.#core = content?.core ?? initialCore()
    this.#judging = judgingState(this.#core)
    this.#given = content?.given ?? projections.map((projection) => projection.initial())
    this.#nextSeq = content?.nextSeq ?? 0
    this.#lastTime = content?.lastTime
  }

  /** Seq of the next event. */
  get nextSeq(): number {
    return this.#nextSeq
  }

  /** Time of the last event; undefined before the first, and when the last was elided. */
  get lastTime(): number | undefined {
    return this.#lastTime
  }

  /** The last event; undefined before the first, when it was elided, and after a restore from a snapshot. */
  get lastEvent(): AnySessionEvent | undefined {
    return this.#lastEvent
  }

  /** The immutable content, for snapshots. */
  get content(): FoldContent {
    return { nextSeq: this.#nextSeq, lastTime: this.#lastTime, core: this.#core, given: this.#given }
  }

  /**
   * Judges and applies the next event.
   * @throws SessionError CORRUPT when its seq is not the next one; INVALID_EVENT when it breaks the grammar;
   * INVALID_ARGUMENT (with the cause) when a given projection throws. Nothing has changed then.
   */
  accept(event: AnySessionEvent): void {
    if (event.seq !== this.#nextSeq) throw outOfOrder(this.#nextSeq, event.seq)
    checkGrammar(this.#judging, event)
    const chunk = event.type === 'assistant/chunk'
    // The given ones first: the core never throws, and its lists grow in place most cheaply when nothing is undone.
    if (chunk ? this.needsChunks : this.#given.length > 0) this.#given = this.#applyGiven(event, chunk)
    if (!chunk) {
      this.#core = applyCore(this.#core, event)
      this.#judging = judgingState(this.#core)
    }
    this.#nextSeq += 1
    this.#lastTime = event.time
    this.#lastEvent = event
  }

  /**
   * Counts a run of chunks that nobody needs to see.
   * @throws SessionError as `accept`; INVARIANT when a projection needs chunks or the run is empty.
   */
  acceptElided(chunks: ElidedChunks): void {
    if (this.needsChunks) throw new SessionError('INVARIANT', 'chunks were elided although a projection needs them')
    if (chunks.seq !== this.#nextSeq) throw outOfOrder(this.#nextSeq, chunks.seq)
    if (!Number.isSafeInteger(chunks.count) || chunks.count < 1)
      throw new SessionError('INVARIANT', `a run of elided chunks must not be empty`, { seq: chunks.seq })
    checkChunkPlace(this.#judging, chunks)
    this.#nextSeq += chunks.count
    this.#lastTime = undefined
    this.#lastEvent = undefined
  }

  /** Events behind the last one were stored once and are lost, as an event of type `LOST_EVENT_TYPE` there would say. */
  loseNext(): void {
    this.#core = { ...this.#core, turns: withLoss(this.#core.turns, this.#nextSeq) }
    this.#judging = judgingState(this.#core)
  }

  /** An independent fold of the same log, at no cost worth naming: states are values that nobody changes. */
  clone(): LogFold {
    const copy = new LogFold(this.projections, this.content)
    copy.#lastEvent = this.#lastEvent
    return copy
  }

  /**
   * State of a core projection, or of one given at construction; the name identifies it.
   * @throws SessionError NOT_SUPPORTED for another.
   */
  state<State>(projection: Projection<State>): State {
    const index = this.projections.findIndex((given) => given.name === projection.name)
    if (index >= 0) return this.#given[index] as State
    if (!CORE_PROJECTIONS.some((core) => core.name === projection.name))
      throw new SessionError(
        'NOT_SUPPORTED',
        `no projection named ${JSON.stringify(projection.name)} was given at open`,
      )
    return coreStateOf(this.#core, projection.name) as State
  }

  messages(): readonly unknown[] {
    return this.#core.lastRequest.context.surface.map((entry) => entry.message)
  }

  surface(): readonly SurfaceEntry[] {
    return this.#core.lastRequest.context.surface.slice()
  }

  modelContext(): ModelContext {
    return modelContextOf(this.#core.lastRequest.context)
  }

  lastRequest(): LastRequest | undefined {
    const { last } = this.#core.lastRequest
    return last && lastRequestOf(last)
  }

  openCalls(): readonly OpenCall[] {
    return openCallsOf(this.#core.turns)
  }

  usage(): UsageState {
    return this.#core.usage
  }

  /** Of the events alone: the header's labels lie below these. */
  summary(): Summary {
    return summaryOf(this.#core.summary)
  }

  get openTurn(): { readonly turn: number; readonly step?: number } | undefined {
    const { openTurn, openStep } = this.#core.turns
    if (openTurn === undefined) return undefined
    return openStep === undefined ? { turn: openTurn } : { turn: openTurn, step: openStep }
  }

  /** True where a log may be forked: no turn is open, and no call outside one. */
  get isStable(): boolean {
    return (
      this.#core.turns.openTurn === undefined &&
      this.#core.turns.calls.openCount === 0 &&
      this.#core.turns.compaction === undefined
    )
  }

  /** Seq from which an unfinished answer is to be read again; undefined when nothing is unfinished. */
  get answerStart(): number | undefined {
    return this.#core.turns.answerStart
  }

  /** `attempt` of the newest `request/sent` of the open step; 0 before the first. */
  get attempt(): number {
    return this.#core.turns.attempt
  }

  #applyGiven(event: AnySessionEvent, chunk: boolean): readonly unknown[] {
    return this.projections.map((projection, index) => {
      const state = this.#given[index]
      if (chunk && projection.chunks !== true) return state
      try {
        const next = projection.apply(state, event)
        if (isStrayPromise(next)) throw new TypeError('apply must be synchronous: it returned a promise')
        return next
      } catch (cause) {
        const message = `projection ${JSON.stringify(projection.name)} failed at seq ${event.seq}`
        throw new SessionError('INVALID_ARGUMENT', message, { cause, seq: event.seq })
      }
    })
  }
}

function judgingState({ turns, lastRequest }: CoreStates): GrammarState {
  return { turns, surface: lastRequest.context.surface }
}

function outOfOrder(expected: number, found: number): SessionError {
  return new SessionError('CORRUPT', `expected seq ${expected}, found ${found}`, { seq: expected, expected, found })
}

function checkProjections(projections: readonly Projection[]): void {
  const taken = new Set(CORE_PROJECTIONS.map((core) => core.name))
  for (const projection of projections) {
    const { name, version, initial, apply, chunks, save, load } = (projection ?? {}) as Partial<Projection>
    if (typeof name !== 'string' || name === '' || !Number.isSafeInteger(version))
      throw new SessionError('INVALID_ARGUMENT', 'a projection needs a name and an integer version')
    const functions = typeof initial === 'function' && typeof apply === 'function'
    const optional = [save, load].every((one) => one === undefined || typeof one === 'function')
    if (!functions || !optional || (chunks !== undefined && typeof chunks !== 'boolean'))
      throw new SessionError('INVALID_ARGUMENT', `projection ${JSON.stringify(name)} is not of the documented form`)
    if (taken.has(name)) throw new SessionError('INVALID_ARGUMENT', `two projections are named ${JSON.stringify(name)}`)
    taken.add(name)
  }
}
