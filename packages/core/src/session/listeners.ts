/** Hands accepted events to subscribers in order, also when a listener appends from inside its call. */
import { aFunction } from '../argument-checks.ts'
import type { AnySessionEvent } from '../event/event.ts'
import { isStrayPromise } from '../event/stray-promise.ts'

export type EventListener = (event: AnySessionEvent) => void

export class Listeners {
  readonly #listeners: Set<{ readonly call: EventListener }> = new Set()
  readonly #onError: (error: unknown) => void
  readonly #queue: AnySessionEvent[] = []
  #delivering = false

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  add(listener: EventListener): () => void {
    // A box, so that one function subscribed twice is two subscriptions.
    const box = { call: aFunction<EventListener>()(listener, 'listener') }
    this.#listeners.add(box)
    return () => {
      this.#listeners.delete(box)
    }
  }

  deliverOne(event: AnySessionEvent): void {
    if (this.#listeners.size > 0) this.deliver([event])
  }

  deliver(events: readonly AnySessionEvent[]): void {
    if (this.#listeners.size === 0) return
    for (const event of events) this.#queue.push(event)
    if (this.#delivering) return
    this.#delivering = true
    try {
      for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift()) {
        for (const listener of [...this.#listeners]) this.#call(listener.call, event)
      }
    } finally {
      this.#delivering = false
    }
  }

  #call(listener: EventListener, event: AnySessionEvent): void {
    try {
      isStrayPromise(listener(event) as unknown, this.#onError)
    } catch (error) {
      // A broken listener must not make an accepted event look refused.
      this.#onError(error)
    }
  }
}
