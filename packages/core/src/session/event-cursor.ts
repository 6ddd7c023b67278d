/**
 * Hands out the events of pages one by one. A generator that yields each event costs three promises an event, which is
 * more than decoding a packed delta; here an event that is already in memory costs one.
 */
import type { AnySessionEvent } from '../event/event.ts'

type Result = IteratorResult<AnySessionEvent, undefined>

const DONE: Result = Object.freeze({ done: true, value: undefined })

/** Behaves like an async generator over `pages`: calls are answered in order, an error or an early end is the end. */
export class EventCursor implements AsyncIterableIterator<AnySessionEvent, undefined, undefined> {
  readonly #pages: AsyncGenerator<readonly AnySessionEvent[], void, undefined>
  readonly #signal: AbortSignal | undefined
  #page: readonly AnySessionEvent[] = []
  #at = 0
  #ended = false
  /** Calls that wait for a page, or for such a call: whoever comes later waits behind them. */
  #waiting = 0
  #line: Promise<unknown> = Promise.resolve()

  constructor(pages: AsyncGenerator<readonly AnySessionEvent[], void, undefined>, signal: AbortSignal | undefined) {
    this.#pages = pages
    this.#signal = signal
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    if (this.#waiting === 0 && this.#signal?.aborted !== true) {
      const value = this.#page[this.#at]
      if (value !== undefined) {
        this.#at++
        return Promise.resolve({ done: false, value })
      }
    }
    return this.#inLine(() => this.#take())
  }

  /** Releases what the pages hold; the same as leaving a `for await` loop early. */
  return(): Promise<Result> {
    return this.#inLine(() => this.#end())
  }

  #inLine(step: () => Promise<Result>): Promise<Result> {
    this.#waiting++
    const result = this.#line.then(step).finally(() => {
      this.#waiting--
    })
    // The next in line goes on after a failure too, and finds the end.
    this.#line = result.catch(() => {})
    return result
  }

  async #take(): Promise<Result> {
    if (this.#ended) return DONE
    try {
      this.#signal?.throwIfAborted()
      while (this.#at >= this.#page.length) {
        const next = await this.#pages.next()
        if (next.done === true) return await this.#end()
        this.#page = next.value
        this.#at = 0
      }
      const value = this.#page[this.#at++]
      return value === undefined ? await this.#end() : { done: false, value }
    } catch (error) {
      await this.#end()
      throw error
    }
  }

  async #end(): Promise<Result> {
    this.#ended = true
    this.#page = []
    this.#at = 0
    await this.#pages.return()
    return DONE
  }
}
