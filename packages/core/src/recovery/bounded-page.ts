/** The page that a repaired log is given out in: a backend stores one as one batch, and every reader must hold that. */
import type { AnySessionEvent } from '../event/event.ts'
import { BATCH_SIZE_MAX } from '../event/event-bytes.ts'
import { eventJson } from '../event/event-json.ts'

const PAGE_EVENTS = 1000

export class BoundedPage {
  #events: AnySessionEvent[] = []
  /** In UTF-16 units, each of which takes six bytes at most, as those that `BATCH_SIZE_MAX` is for. */
  #size = 0

  /** Adds the event; where it does not fit any more it begins a new page, and the one before it is returned. */
  add(event: AnySessionEvent): readonly AnySessionEvent[] | undefined {
    const size = sizeOf(event)
    const isFull = this.#events.length === PAGE_EVENTS || (this.#size > 0 && this.#size + size > BATCH_SIZE_MAX)
    const full = isFull ? this.take() : undefined
    this.#events.push(event)
    this.#size += size
    return full
  }

  /** What was added since the last page; the next one begins. */
  take(): readonly AnySessionEvent[] {
    const events = this.#events
    this.#events = []
    this.#size = 0
    return events
  }
}

export function sizeOf(event: AnySessionEvent): number {
  return eventJson(event).length
}
