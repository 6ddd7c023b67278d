/** From open to closed: what runs is known, what comes late is refused, and whoever waits is told (contract family LIFE). */
import { SessionError } from '../errors.ts'

function closedError(): SessionError {
  return new SessionError('CLOSED', 'the persistence is closed')
}

/**
 * Node 20 collects a signal of `AbortSignal.timeout` that only `AbortSignal.any` listens to, and with it the timeout: a
 * listener of its own keeps it. Being one function it is there once, however often a signal is given.
 */
function stayAlive(): void {}

export class Lifetime {
  readonly #running: Set<Promise<unknown>> = new Set()
  #closing = new AbortController()
  #ending: Promise<void> | undefined
  #closed = false

  /** CLOSED once closing has begun. */
  assertOpen(): void {
    if (this.#closed || this.#closing.signal.aborted) throw closedError()
  }

  /** Runs an operation that a close waits for. */
  run<T>(operation: () => Promise<T>): Promise<T> {
    this.assertOpen()
    const running = operation()
    this.#running.add(running)
    const forget = (): void => {
      this.#running.delete(running)
    }
    running.then(forget, forget)
    return running
  }

  /** Aborts with the given signal's reason, or with CLOSED when closing begins. */
  signal(given: AbortSignal | undefined): AbortSignal {
    const { signal } = this.#closing
    if (given === undefined) return signal
    given.addEventListener('abort', stayAlive, { once: true })
    return AbortSignal.any([given, signal])
  }

  /**
   * Refuses what comes from now on, waits for what runs, then closes. When closing rejects, everything is open again, so
   * that it may be tried once more; with `always` it is closed all the same.
   */
  end(close: () => Promise<void>, always: boolean): Promise<void> {
    if (this.#closed) return Promise.resolve()
    this.#ending ??= this.#end(close, always).finally(() => {
      this.#ending = undefined
    })
    return this.#ending
  }

  async #end(close: () => Promise<void>, always: boolean): Promise<void> {
    this.#closing.abort(closedError())
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
    try {
      await close()
      this.#closed = true
    } catch (error) {
      if (always) this.#closed = true
      else this.#closing = new AbortController()
      throw error
    }
  }
}
