/**
 * One transaction for everything that waits: commits of many sessions, asked for in one turn of the event loop, share
 * one sync. A conflict fails its session only; an I/O error fails all.
 */
import type { SessionError } from '@session-persistence/core'
import { BusyWait } from './busy-wait.ts'
import { CHECKPOINT_PAGES, checkpointPassively } from './checkpoint.ts'
import type { Connection } from './connection.ts'
import { concernsOneSession, isBusy, sqliteError } from './sqlite-error.ts'
import type { WriteAccess } from './write-access.ts'
import { writeFailure } from './write-failure.ts'

/** Bytes of one transaction, one request excepted: what it writes holds the event loop. */
const TRANSACTION_BYTES_MAX = 4 * 1024 * 1024

const PAGE_BYTES = 4096
/** Pages that a small commit writes: the end of the records, the session's row, a leaf of the index by time. */
const COMMIT_PAGES = 3

interface CommitRequest {
  readonly bytes: number
  /** `patient` waits for a turn more than others; `alone` runs outside any transaction, by itself. */
  readonly kind: 'usual' | 'patient' | 'alone'
  readonly apply: (connection: Connection) => unknown
  /** What `apply` returned last. */
  result: unknown
  /** Takes the result. */
  readonly resolve: (result: never) => void
  readonly reject: (error: SessionError) => void
}

type Outcome =
  | { readonly kind: 'committed' }
  | { readonly kind: 'busy'; readonly error: SessionError }
  | { readonly kind: 'refused'; readonly request: CommitRequest; readonly error: SessionError }
  | { readonly kind: 'doubtful' }
  | { readonly kind: 'failed'; readonly error: SessionError }

export class GroupCommit {
  readonly #access: WriteAccess
  readonly #path: string
  readonly #busyMs: number
  readonly #onCommit: () => void
  #queue: CommitRequest[] = []
  #running: Promise<void> | undefined
  /** Pages written since the last checkpoint, as an estimate. */
  #pages = 0

  constructor(access: WriteAccess, path: string, busyMs: number, onCommit: () => void) {
    this.#access = access
    this.#path = path
    this.#busyMs = busyMs
    this.#onCommit = onCommit
  }

  /**
   * Resolves with what `apply` returned, once that is durable. It may run several times, and must change nothing else.
   * `patient`: unless others wait too, one more turn of the event loop passes first, in which more may come that shares a
   * sync.
   */
  commit<T>(bytes: number, apply: (connection: Connection) => T, patient = false): Promise<T> {
    return this.#enqueue(bytes, patient ? 'patient' : 'usual', apply)
  }

  /** The same without a transaction. */
  alone<T>(apply: (connection: Connection) => T): Promise<T> {
    return this.#enqueue(0, 'alone', apply)
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  #enqueue<T>(bytes: number, kind: CommitRequest['kind'], apply: (connection: Connection) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ bytes, kind, apply, result: undefined, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      await nextTurn()
      if (this.#queue.every(({ kind }) => kind === 'patient')) await nextTurn()
      const requests = this.#take()
      try {
        await this.#commit(requests)
        this.#checkpointWhenDue()
      } catch (error) {
        // Nothing is known to throw here; but whoever waits must hear of it, and the next one must not wait for ever.
        this.#rejectAll(requests, sqliteError(error, 'write to the database', this.#path))
      }
    }
    // In the same step as the look at the queue: who comes now starts a new run.
    this.#running = undefined
  }

  /** The next requests that can share a transaction. */
  #take(): CommitRequest[] {
    let count = 0
    let bytes = 0
    for (const request of this.#queue) {
      if (count > 0 && (request.kind === 'alone' || bytes + request.bytes > TRANSACTION_BYTES_MAX)) break
      count++
      bytes += request.bytes
      if (request.kind === 'alone') break
    }
    return this.#queue.splice(0, count)
  }

  async #commit(requests: CommitRequest[]): Promise<void> {
    let wait: BusyWait | undefined
    let waiting = requests
    let mayDoubt = true
    while (waiting.length > 0) {
      // Nearly always the database is open: then nothing is waited for but the commit itself.
      const outcome = (this.#access.isOpen ? undefined : await this.#open()) ?? this.#attempt(waiting, mayDoubt)
      switch (outcome.kind) {
        case 'committed':
          this.#pages += COMMIT_PAGES + waiting.reduce((sum, { bytes }) => sum + bytes / PAGE_BYTES, 0)
          for (const { resolve, result } of waiting) resolve(result as never)
          this.#onCommit()
          return
        case 'refused': {
          const { request, error } = outcome
          request.reject(error)
          waiting = waiting.filter((each) => each !== request)
          break
        }
        case 'doubtful':
          mayDoubt = false
          break
        case 'busy':
          wait ??= new BusyWait(this.#busyMs)
          if (await wait.next()) break
          this.#rejectAll(waiting, this.#access.stillBusy(outcome.error))
          return
        case 'failed':
          this.#rejectAll(waiting, outcome.error)
          return
      }
    }
  }

  /** Why the database could not be opened. */
  async #open(): Promise<Outcome | undefined> {
    try {
      await this.#access.open()
      return undefined
    } catch (cause) {
      return this.#notReady(cause)
    }
  }

  #attempt(requests: readonly CommitRequest[], mayDoubt: boolean): Outcome {
    let connection: Connection
    try {
      connection = this.#access.ready()
    } catch (cause) {
      return this.#notReady(cause)
    }
    const believes = connection.isDamaged || !mayDoubt
    const outcome = transact(connection, requests, this.#path)
    if (outcome.kind === 'failed') this.#access.poison(outcome.error)
    // A read that failed is called damage too, and may have passed: what a new connection says as well is damage. Nothing
    // was written, so that nothing has to be established again.
    if (outcome.kind === 'refused' && !believes && connection.isDamaged) {
      this.#access.close()
      return { kind: 'doubtful' }
    }
    return outcome
  }

  #notReady(cause: unknown): Outcome {
    const error = writeFailure(cause, this.#path)
    return { kind: error.code === 'BUSY' ? 'busy' : 'failed', error }
  }

  #rejectAll(requests: readonly CommitRequest[], error: SessionError): void {
    for (const { reject } of requests) reject(error)
  }

  /** After those who wait were told: it costs two syncs, and nobody needs it yet. */
  #checkpointWhenDue(): void {
    if (this.#pages < CHECKPOINT_PAGES) return
    this.#pages = 0
    const connection = this.#access.current
    if (connection === undefined) return
    try {
      checkpointPassively(connection)
    } catch (error) {
      // What was acknowledged is safe in the log; the next commit establishes the database anew, or says that it cannot.
      if (!isBusy(error)) this.#access.poison(writeFailure(error, this.#path))
    }
  }
}

function transact(connection: Connection, requests: readonly CommitRequest[], path: string): Outcome {
  let current: CommitRequest | undefined
  const inTransaction = requests[0]?.kind !== 'alone'
  try {
    if (inTransaction) connection.run('BEGIN IMMEDIATE')
    for (const request of requests) {
      current = request
      request.result = request.apply(connection)
    }
    current = undefined
    if (inTransaction) connection.run('COMMIT')
    return { kind: 'committed' }
  } catch (cause) {
    try {
      if (connection.inTransaction) connection.run('ROLLBACK')
    } catch (failure) {
      return { kind: 'failed', error: writeFailure(failure, path) }
    }
    const error = writeFailure(cause, path)
    if (error.code === 'BUSY') return { kind: 'busy', error }
    if (current !== undefined && concernsOneSession(cause)) return { kind: 'refused', request: current, error }
    return { kind: 'failed', error }
  }
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
