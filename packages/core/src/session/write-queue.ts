/**
 * From accepted to durable. One batch is in flight at a time; whatever arrives meanwhile goes into the next one, so
 * that many flushes share a sync. A failed batch stays at the head of the queue, in order, and is offered again by the
 * next flush (contract family DURABLE).
 */
import { isSessionError, SessionError } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import { PendingEvents } from './pending-events.ts'

export interface WriteQueueOptions {
  /** Writes one batch; durable when it resolves. */
  readonly write: (events: readonly AnySessionEvent[]) => Promise<void>
  /** Called while a batch that a flush waits for is being written, with its last event: what can be made ready, is. */
  readonly whileWriting: (last: AnySessionEvent) => void
  /**
   * Called between batches with the estimated bytes of events just made durable; `idle` when nothing waits. The medium
   * is idle for this writer meanwhile.
   */
  readonly afterWrite: (bytes: number, idle: boolean) => Promise<void>
  /** Hears every failed write; `background` means that no flush waits for it. */
  readonly onFailure: (error: SessionError, background: boolean) => void
  /** Seq of the first event that is not durable at the start. */
  readonly durableSeq: number
  readonly windowMs: number
  readonly pendingBytesMax: number
}

interface Waiter {
  /** Resolves once every event before this seq is durable. */
  readonly seq: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class WriteQueue {
  readonly #options: WriteQueueOptions
  readonly #pending: PendingEvents = new PendingEvents()
  #acceptedSeq: number
  #durableSeq: number
  #lastDurable: AnySessionEvent | undefined
  #waiters: Waiter[] = []
  #drainWaiters: Waiter[] = []
  #timer: NodeJS.Timeout | undefined
  /** The window opens with the end of this turn of the microtask queue, unless a flush came first. */
  #windowAsked = false
  #running: Promise<void> | undefined
  /**
   * The newest write failed; seq of the first event that had not been accepted when it began. Only a flush or a newer event
   * tries again, so that a dead medium is not hammered.
   */
  #failed: number | undefined
  #stopped = false

  constructor(options: WriteQueueOptions) {
    this.#options = options
    this.#durableSeq = options.durableSeq
    this.#acceptedSeq = options.durableSeq
  }

  get durableSeq(): number {
    return this.#durableSeq
  }

  /** The newest event that this queue made durable. */
  get lastDurable(): AnySessionEvent | undefined {
    return this.#lastDurable
  }

  pendingEvents(): readonly AnySessionEvent[] {
    return this.#pending.all()
  }

  /** BACKPRESSURE when `size` more bytes would pass the bound. A lone event is always let in. */
  admit(size: number): void {
    const { bytes } = this.#pending
    if (bytes === 0 || bytes + size <= this.#options.pendingBytesMax) return
    throw new SessionError('BACKPRESSURE', 'too many bytes wait to become durable: wait for drained() and try again', {
      expected: this.#options.pendingBytesMax,
      found: bytes + size,
    })
  }

  /** Takes an accepted event; it must continue the seqs taken before. */
  push(event: AnySessionEvent, size: number): void {
    this.#pending.push(event, size)
    this.#acceptedSeq++
    this.#schedule()
  }

  /** Takes events accepted together, which reach the medium in one batch. */
  pushGroup(events: readonly AnySessionEvent[], size: number): void {
    this.#pending.pushGroup(events, size)
    this.#acceptedSeq += events.length
    this.#schedule()
  }

  /** Resolves when everything pushed before the call is durable. */
  flush(): Promise<void> {
    if (this.#durableSeq >= this.#acceptedSeq) return Promise.resolve()
    return this.#wait(this.#waiters)
  }

  /** Resolves when less than half of the bound waits. */
  drained(): Promise<void> {
    if (this.#pending.bytes <= this.#options.pendingBytesMax / 2) return Promise.resolve()
    return this.#wait(this.#drainWaiters)
  }

  /** Waits for what is in flight; what is accepted meanwhile may start the next. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  /** Nothing is written any more, once what is in flight has ended. Waiters are rejected with CLOSED. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.idle()
    this.#rejectWaiters(new SessionError('CLOSED', 'the session was closed before this was durable'))
  }

  #wait(list: Waiter[]): Promise<void> {
    return new Promise((resolve, reject) => {
      list.push({ seq: this.#acceptedSeq, resolve, reject })
      this.#start()
    })
  }

  #schedule(): void {
    // A large backlog does not wait for the window: it would only reach the bound sooner.
    if (this.#pending.bytes > this.#options.pendingBytesMax / 8) this.#start()
    else this.#askWindow()
  }

  /** Most harnesses flush what they append: a timer that is made and cleared for each would cost more than the queue. */
  #askWindow(): void {
    if (this.#windowAsked || this.#timer !== undefined || this.#running !== undefined) return
    this.#windowAsked = true
    queueMicrotask(() => {
      this.#windowAsked = false
      if (!this.#pending.isEmpty) this.#armWindow()
    })
  }

  #armWindow(): void {
    if (this.#timer !== undefined || this.#running !== undefined || this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#start()
    }, this.#options.windowMs)
  }

  #start(): void {
    if (this.#running !== undefined || this.#stopped) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running = this.#run().finally(() => {
      this.#running = undefined
      // A waiter may have come while the last step of the run was ending.
      if (this.#waiters.length > 0 || this.#drainWaiters.length > 0) this.#start()
      else if (!this.#pending.isEmpty && (this.#failed ?? -1) < this.#acceptedSeq) this.#armWindow()
    })
  }

  async #run(): Promise<void> {
    do {
      const accepted = this.#acceptedSeq
      const batch = this.#pending.take()
      let bytes = 0
      if (batch.length > 0) {
        try {
          await this.#write(batch)
        } catch (cause) {
          this.#pending.putBack()
          this.#failed = accepted
          this.#fail(cause)
          return
        }
        this.#failed = undefined
        bytes = this.#pending.settled()
        this.#durableSeq += batch.length
        this.#lastDurable = batch.at(-1)
      }
      this.#settleWaiters()
      await this.#options.afterWrite(bytes, this.#pending.isEmpty)
    } while (this.#waiters.length > 0 || this.#drainWaiters.length > 0)
  }

  #write(batch: readonly AnySessionEvent[]): Promise<void> {
    const written = this.#options.write(batch)
    const last = batch.at(-1)
    if (last !== undefined && this.#waiters.length > 0) this.#options.whileWriting(last)
    return written
  }

  #settleWaiters(): void {
    const waiting = this.#waiters
    this.#waiters = waiting.filter((waiter) => waiter.seq > this.#durableSeq)
    for (const waiter of waiting) if (waiter.seq <= this.#durableSeq) waiter.resolve()
    if (this.#pending.bytes > this.#options.pendingBytesMax / 2) return
    const draining = this.#drainWaiters
    this.#drainWaiters = []
    for (const waiter of draining) waiter.resolve()
  }

  #fail(cause: unknown): void {
    const error = isSessionError(cause)
      ? cause
      : new SessionError('IO', 'the backend failed to write a batch', { cause })
    const waited = this.#rejectWaiters(error)
    this.#options.onFailure(error, waited === 0)
  }

  #rejectWaiters(error: SessionError): number {
    const waiting = [...this.#waiters, ...this.#drainWaiters]
    this.#waiters = []
    this.#drainWaiters = []
    for (const waiter of waiting) waiter.reject(error)
    return waiting.length
  }
}
