/**
 * From what a caller passes to accepted events: numbered, judged by the grammar, folded, and handed to the queue. A
 * single event is judged before it changes anything; a group is tried on a copy, so that it is whole or absent.
 */
import { SessionError } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import type { SessionEventMap } from '../event/vocabulary.ts'
import type { LogFold } from '../projection/log-fold.ts'
import { PartialAnswer } from '../projection/partial-answer.ts'
import { type AcceptedEvent, checkBatchBytes, intake, type RawInput } from './event-intake.ts'
import type { Settings } from './settings.ts'
import type { WriteQueue } from './write-queue.ts'

export interface AcceptanceStart {
  readonly fold: LogFold
  /** Chunks of the answer that was being streamed, on a resume that keeps its turn open. */
  readonly partial?: PartialAnswer
  /** Data of the `session/resumed` event that travels before the first own event; absent for a new log. */
  readonly resumed?: SessionEventMap['session/resumed']
}

export class Acceptance {
  readonly #settings: Settings
  readonly #queue: WriteQueue
  readonly #partial: PartialAnswer
  #fold: LogFold
  #resumed: SessionEventMap['session/resumed'] | undefined
  /** Set while an event is being judged: what the harness gave for that may not append on its own. */
  #running = false

  constructor(settings: Settings, queue: WriteQueue, { fold, partial, resumed }: AcceptanceStart) {
    this.#settings = settings
    this.#queue = queue
    this.#fold = fold
    this.#partial = partial ?? new PartialAnswer()
    this.#resumed = resumed
  }

  get fold(): LogFold {
    return this.#fold
  }

  /** Of the answer that is being streamed. */
  get partial(): PartialAnswer {
    return this.#partial
  }

  /** True when the next event takes another one with it. */
  get isFirst(): boolean {
    return this.#resumed !== undefined
  }

  /** INVALID_EVENT, UNKNOWN_EVENT, TOO_LARGE, BACKPRESSURE, INVALID_ARGUMENT: nothing has changed then. */
  one(input: RawInput): AnySessionEvent {
    this.#begin()
    try {
      const { event, size } = intake(input, this.#fold.nextSeq, this.#settings.clock(), this.#settings)
      this.#queue.admit(size)
      this.#fold.accept(event)
      this.#partial.accept(event)
      this.#queue.push(event, size)
      return event
    } finally {
      this.#running = false
    }
  }

  /** All or none, in one batch. The events of a new writer are preceded by its `session/resumed`. */
  all(inputs: readonly RawInput[]): readonly AnySessionEvent[] {
    this.#begin()
    try {
      return this.#group(
        this.#resumed === undefined ? inputs : [{ type: 'session/resumed', data: this.#resumed }, ...inputs],
      )
    } finally {
      this.#running = false
    }
  }

  #begin(): void {
    if (this.#running) {
      throw new SessionError('INVALID_ARGUMENT', 'a projection, schema, redact or clock must not append')
    }
    this.#running = true
  }

  #group(inputs: readonly RawInput[]): readonly AnySessionEvent[] {
    const accepted: AcceptedEvent[] = []
    let size = 0
    for (const input of inputs) {
      const next = intake(input, this.#fold.nextSeq + accepted.length, this.#settings.clock(), this.#settings)
      accepted.push(next)
      size += next.size
    }
    checkBatchBytes(accepted)
    this.#queue.admit(size)
    const fold = this.#fold.clone()
    const events = accepted.map(({ event }) => event)
    for (const event of events) fold.accept(event)
    this.#fold = fold
    this.#resumed = undefined
    for (const event of events) this.#partial.accept(event)
    this.#queue.pushGroup(events, size)
    return events
  }
}
