/**
 * From accepted to durable. One batch is in flight at a time; whatever arrives meanwhile goes into the next one, so
 * that many flushes share a sync. A failed batch stays at the head of the queue, in order, and is offered again by the
 * next flush (contract family DURABLE).
 */
import { isSessionError, SessionError } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import { BATCH_SIZE_MAX } from '../event/event-bytes.ts'

export interface WriteQueueOptions {
  /** Writes one batch; durable when it resolves. */
  readonly write: (events: readonly AnySessionEvent[]) => Promise<void>
  /** Called between batches with the events just made durable; the medium is idle for this writer meanwhile. */
  readonly afterWrite: (idle: boolean) => Promise<void>
  /** Hears every failed write; `background` means that no flush waits for it. */
  readonly onFailure: (error: SessionError, background: boolean) => void
  /** Seq of the first event that is not durable at the start. */
  readonly durableSeq: number
  readonly windowMs: number
  readonly pendingBytesMax: number
}

/** Events accepted together; they reach the medium in one batch. */
interface Group {
  readonly events: readonly AnySessionEvent[]
  readonly size: number
}

interface Waiter {
  /** Resolves once every event before this seq is durable. */
  readonly seq: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class WriteQueue {
  readonly #options: WriteQueueOptions
  #groups: Group[] = []
  #pendingBytes = 0
  #acceptedSeq: number
  #durableSeq: number
  #lastDurable: AnySessionEvent | undefined
  #waiters: Waiter[] = []
  #drainWaiters: Waiter[] = []
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  /** The newest write failed: only a flush or a new event tries again, so that a dead medium is not hammered. */
  #failed = false
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
    return this.#groups.flatMap((group) => group.events)
  }

  /** BACKPRESSURE when `size` more bytes would pass the bound. A lone event is always let in. */
  admit(size: number): void {
    if (this.#pendingBytes === 0 || this.#pendingBytes + size <= this.#options.pendingBytesMax) return
    throw new SessionError('BACKPRESSURE', 'too many bytes wait to become durable: wait for drained() and try again', {
      expected: this.#options.pendingBytesMax,
      found: this.#pendingBytes + size,
    })
  }

  /** Takes accepted events; they must continue the seqs taken before. */
  push(events: readonly AnySessionEvent[], size: number): void {
    this.#groups.push({ events, size })
    this.#pendingBytes += size
    this.#acceptedSeq += events.length
    // A large backlog does not wait for the window: it would only reach the bound sooner.
    if (this.#pendingBytes > this.#options.pendingBytesMax / 8) this.#start()
    else this.#armWindow()
  }

  /** Resolves when everything pushed before the call is durable. */
  flush(): Promise<void> {
    if (this.#durableSeq >= this.#acceptedSeq) return Promise.resolve()
    return this.#wait(this.#waiters)
  }

  /** Resolves when less than half of the bound waits. */
  drained(): Promise<void> {
    if (this.#pendingBytes <= this.#options.pendingBytesMax / 2) return Promise.resolve()
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
      else if (this.#groups.length > 0 && !this.#failed) this.#armWindow()
    })
  }

  async #run(): Promise<void> {
    do {
      const batch = this.#nextBatch()
      if (batch.events.length > 0) {
        try {
          await this.#options.write(batch.events)
        } catch (cause) {
          this.#fail(cause)
          return
        }
        this.#failed = false
        this.#complete(batch)
      }
      this.#settleWaiters()
      await this.#options.afterWrite(this.#groups.length === 0)
    } while (this.#waiters.length > 0 || this.#drainWaiters.length > 0)
  }

  /** As many whole groups as fit into one batch, at least one. */
  #nextBatch(): { readonly events: readonly AnySessionEvent[]; readonly groups: number; readonly size: number } {
    const first = this.#groups[0]
    if (first === undefined) return { events: [], groups: 0, size: 0 }
    if (this.#groups.length === 1) return { events: first.events, groups: 1, size: first.size }
    const events: AnySessionEvent[] = []
    let groups = 0
    let size = 0
    for (const group of this.#groups) {
      if (groups > 0 && size + group.size > BATCH_SIZE_MAX) break
      for (const event of group.events) events.push(event)
      size += group.size
      groups++
    }
    return { events, groups, size }
  }

  #complete(batch: {
    readonly events: readonly AnySessionEvent[]
    readonly groups: number
    readonly size: number
  }): void {
    this.#groups = this.#groups.slice(batch.groups)
    this.#pendingBytes -= batch.size
    this.#durableSeq += batch.events.length
    this.#lastDurable = batch.events.at(-1)
  }

  #settleWaiters(): void {
    const waiting = this.#waiters
    this.#waiters = waiting.filter((waiter) => waiter.seq > this.#durableSeq)
    for (const waiter of waiting) if (waiter.seq <= this.#durableSeq) waiter.resolve()
    if (this.#pendingBytes > this.#options.pendingBytesMax / 2) return
    const draining = this.#drainWaiters
    this.#drainWaiters = []
    for (const waiter of draining) waiter.resolve()
  }

  #fail(cause: unknown): void {
    this.#failed = true
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
