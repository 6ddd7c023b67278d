/** The one writer of a session: accepts events, keeps the fold, and hands batches to the storage. */
import { isSessionError, SessionError, withSessionId } from '../errors.ts'
import type { AnySessionEvent, AppendOptions, EventInput, EventType, SessionEvent } from '../event/event.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'
import { shownName } from '../event/shown-text.ts'
import { isStrayPromise } from '../event/stray-promise.ts'
import type { SessionEventMap } from '../event/vocabulary.ts'
import { firstDifference } from '../projection/json-equality.ts'
import type { LogFold } from '../projection/log-fold.ts'
import type { ModelContext } from '../projection/model-context.ts'
import type { PartialAnswer } from '../projection/partial-answer.ts'
import type { RecoveryReport } from '../recovery/recovery-report.ts'
import type { StorageReader, StorageWriter } from '../storage/session-storage.ts'
import { Acceptance } from './acceptance.ts'
import { DerivedDocuments } from './derived-documents.ts'
import { DurableHead } from './durable-head.ts'
import type { RawInput } from './event-intake.ts'
import { FoldedState } from './folded-state.ts'
import { Listeners } from './listeners.ts'
import { planClosers } from './plan-closers.ts'
import { type ReadSource, readEventPages, readEvents } from './read-events.ts'
import type { BeginCall, CloseTurnOptions, ReadOptions, Session } from './session.ts'
import { appendArguments, closeTurnArguments, eventInputs } from './session-arguments.ts'
import type { Settings } from './settings.ts'
import { WriteQueue } from './write-queue.ts'

export interface LiveSessionParts {
  readonly settings: Settings
  readonly writer: StorageWriter
  readonly fold: LogFold
  readonly recovery: RecoveryReport | undefined
  /** Of the newest stored event; of an empty log for a new session. */
  readonly head: HeadReceipt
  /** Chunks of the answer that was being streamed, on a resume that keeps its turn open. */
  readonly partial?: PartialAnswer
  /** Data of the `session/resumed` event that travels before the first own event; absent for a new log. */
  readonly resumed?: SessionEventMap['session/resumed']
  /** A snapshot for this seq is stored already. */
  readonly snapshotSeq?: number
  readonly openReader: () => Promise<StorageReader>
  readonly released: () => void
}

export class LiveSession extends FoldedState implements Session {
  readonly id: string
  readonly recovery: RecoveryReport | undefined
  readonly #settings: Settings
  readonly #writer: StorageWriter
  readonly #queue: WriteQueue
  readonly #acceptance: Acceptance
  readonly #documents: DerivedDocuments
  readonly #listeners: Listeners
  readonly #openReader: () => Promise<StorageReader>
  readonly #released: () => void
  readonly #head: DurableHead
  #closing: Promise<void> | undefined
  #closed = false

  constructor(parts: LiveSessionParts) {
    super(parts.writer.header)
    this.id = parts.writer.header.id
    this.recovery = parts.recovery
    this.#settings = parts.settings
    this.#writer = parts.writer
    this.#openReader = parts.openReader
    this.#released = parts.released
    this.#head = new DurableHead(parts.head)
    this.#documents = new DerivedDocuments(
      parts.writer,
      { snapshotSeq: parts.snapshotSeq ?? -1, nextSeq: parts.fold.nextSeq },
      (error) => this.#warn('no snapshot could be made, so the next resume folds the log', error),
    )
    this.#listeners = new Listeners((error) => this.#warn('a subscriber threw', error))
    this.#queue = new WriteQueue({
      write: (events) => this.#writer.append(events),
      whileWriting: (last) => this.#head.prepare(last),
      afterWrite: (bytes, idle) => this.#afterWrite(bytes, idle),
      onFailure: (error, background) => this.#reportFailure(error, background),
      durableSeq: parts.fold.nextSeq,
      windowMs: parts.settings.writeWindowMs,
      pendingBytesMax: parts.settings.pendingBytes,
    })
    this.#acceptance = new Acceptance(parts.settings, this.#queue, parts)
  }

  protected get fold(): LogFold {
    return this.#acceptance.fold
  }

  get durableSeq(): number {
    return this.#queue.durableSeq
  }

  append<T extends EventType>(type: T, data: SessionEventMap[T], options?: AppendOptions): SessionEvent<T> {
    const input: RawInput =
      options === undefined ? { type, data } : { ...appendArguments(options, 'options'), type, data }
    this.#assertOpen()
    if (this.#acceptance.isFirst) return this.#accept([input]).at(-1) as SessionEvent<T>
    let event: AnySessionEvent
    try {
      event = this.#acceptance.one(input)
    } catch (error) {
      throw withSessionId(error, this.id)
    }
    this.#listeners.deliverOne(event)
    return event as SessionEvent<T>
  }

  appendAll(events: readonly EventInput[]): readonly SessionEvent[] {
    const inputs = eventInputs(events, 'events')
    if (inputs.length === 0) {
      this.#assertOpen()
      return []
    }
    return this.#accept(inputs).slice(-inputs.length) as readonly SessionEvent[]
  }

  flush(): Promise<HeadReceipt> {
    return this.#closed ? Promise.reject(this.#closedError()) : this.#flush()
  }

  async drained(): Promise<void> {
    this.#assertOpen()
    try {
      await this.#queue.drained()
    } catch (error) {
      throw withSessionId(error, this.id)
    }
  }

  async checkpoint(request: ModelContext): Promise<HeadReceipt> {
    this.#assertOpen()
    const difference = firstDifference(this.modelContext(), request)
    if (difference !== undefined) {
      throw new SessionError('INVARIANT', `the request differs from what the log derives: ${difference}`, {
        sessionId: this.id,
        seq: this.nextSeq,
      })
    }
    const place = this.openTurn
    if (place?.step === undefined) {
      throw new SessionError('INVALID_EVENT', 'a request can be sent only inside a step', { sessionId: this.id })
    }
    this.append('request/sent', {
      turn: place.turn,
      step: place.step,
      attempt: this.fold.attempt + 1,
    })
    return this.#flush()
  }

  async beginCall(call: BeginCall): Promise<HeadReceipt> {
    this.#assertOpen()
    this.append('tool/call', call)
    return this.#flush()
  }

  async closeTurn(options: CloseTurnOptions): Promise<HeadReceipt> {
    this.#assertOpen()
    const { reason, keepPartialAnswer = true } = closeTurnArguments(options, 'options')
    const closers = planClosers(this.fold, {
      reason,
      format: this.#settings.formats.get(this.header.messageFormat),
      blocks: this.#acceptance.partial.blocks(),
      keepPartialAnswer,
    })
    if (closers.length > 0) this.#accept(closers)
    return this.#flush()
  }

  subscribe(listener: (event: AnySessionEvent) => void): () => void {
    this.#assertOpen()
    return this.#listeners.add(listener)
  }

  pendingEvents(): readonly AnySessionEvent[] {
    return this.#queue.pendingEvents()
  }

  read(options: ReadOptions = {}): AsyncIterable<AnySessionEvent> {
    this.#assertOpen()
    return readEvents(this.#stored(), options)
  }

  readPages(options: ReadOptions = {}): AsyncIterable<readonly AnySessionEvent[]> {
    this.#assertOpen()
    return readEventPages(this.#stored(), options)
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.resolve()
    this.#closing ??= this.#close().finally(() => {
      this.#closing = undefined
    })
    return this.#closing
  }

  async abandon(): Promise<readonly AnySessionEvent[]> {
    const pending = this.pendingEvents()
    if (this.#closed) return pending
    this.#closed = true
    await this.#queue.stop()
    await this.#release()
    return this.pendingEvents()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.close()
    } catch (error) {
      // The scope that owned the session ends here: keeping its lock would only keep others out.
      const lost = await this.abandon()
      if (!isSessionError(error)) throw error
      throw new SessionError(error.code, `${error.message}; ${lost.length} accepted events were not stored`, {
        ...error,
        cause: error,
      })
    }
  }

  #accept(inputs: readonly RawInput[]): readonly AnySessionEvent[] {
    this.#assertOpen()
    let events: readonly AnySessionEvent[]
    try {
      events = this.#acceptance.all(inputs)
    } catch (error) {
      throw withSessionId(error, this.id)
    }
    this.#listeners.deliver(events)
    return events
  }

  /** One step behind the queue's promise, and not an `async` function for each layer: a flush is a hot path too. */
  #flush(): Promise<HeadReceipt> {
    return this.#queue.flush().then(
      () => this.#receipt(),
      (error: unknown) => {
        throw withSessionId(error, this.id)
      },
    )
  }

  #receipt(): HeadReceipt {
    return this.#head.receiptOf(this.#queue.lastDurable)
  }

  async #afterWrite(bytes: number, idle: boolean): Promise<void> {
    this.#documents.wrote(bytes)
    if (!idle || !this.#documents.isSnapshotDue || this.#queue.lastDurable === undefined) return
    await this.#documents.saveSnapshot(this.fold, this.#receipt())
  }

  async #close(): Promise<void> {
    // What is appended while a flush waits belongs to the log as well.
    do {
      await this.#flush()
      await this.#queue.idle()
    } while (this.#queue.durableSeq < this.nextSeq)
    this.#closed = true
    try {
      await this.#queue.stop()
      const head = this.#receipt()
      if (head.seq >= 0) await this.#documents.atClose(this.fold, this.summary(), head)
    } finally {
      await this.#release()
    }
  }

  #stored(): ReadSource {
    return { id: this.id, upgrades: this.#settings.upgrades, openReader: this.#openReader }
  }

  async #release(): Promise<void> {
    try {
      await this.#writer.close()
    } finally {
      this.#released()
    }
  }

  #reportFailure(error: SessionError, background: boolean): void {
    const identified = withSessionId(error, this.id) as SessionError
    const listener = this.#settings.onFailure
    if (listener !== undefined) {
      try {
        isStrayPromise(listener(identified, { id: this.id }) as unknown, (thrown) =>
          this.#warn('onFailure rejected', thrown),
        )
      } catch (thrown) {
        this.#warn('onFailure threw', thrown)
      }
    } else if (background) {
      this.#warn(`a background write failed, ${this.pendingEvents().length} events wait`, identified)
    }
  }

  #warn(what: string, error: unknown): void {
    const detail = isSessionError(error) ? `${error.code}: ${error.message}` : String(error)
    process.emitWarning(`session ${shownName(this.id)}: ${what}: ${detail}`, 'SessionPersistenceWarning')
  }

  #assertOpen(): void {
    if (this.#closed) throw this.#closedError()
  }

  #closedError(): SessionError {
    return new SessionError('CLOSED', 'the session is closed', { sessionId: this.id })
  }
}
