/**
 * Accepted events on their way to the medium, in order. What is accepted together reaches it in one batch. Flat lists:
 * a streaming harness has thousands of events here, and each object that waits beside them is the garbage collector's.
 */
import type { AnySessionEvent } from '../event/event.ts'
import { BATCH_SIZE_MAX } from '../event/event-bytes.ts'

/** Whole groups of events, one behind the other. */
interface Groups {
  readonly events: AnySessionEvent[]
  /** For each group the number of events up to its end. */
  readonly ends: number[]
  /** For each group its estimated bytes. */
  readonly sizes: number[]
}

export class PendingEvents {
  #waiting: Groups = none()
  /** What `take` gave, until it is `settled` or `putBack`. */
  #taken: Groups | undefined
  #takenBytes = 0
  #bytes = 0

  /** Estimated bytes of everything here. */
  get bytes(): number {
    return this.#bytes
  }

  get isEmpty(): boolean {
    return this.#taken === undefined && this.#waiting.events.length === 0
  }

  all(): readonly AnySessionEvent[] {
    return [...(this.#taken?.events ?? []), ...this.#waiting.events]
  }

  /** One event that may be written without its neighbours. */
  push(event: AnySessionEvent, bytes: number): void {
    this.#waiting.events.push(event)
    this.#endGroup(bytes)
  }

  pushGroup(events: readonly AnySessionEvent[], bytes: number): void {
    for (const event of events) this.#waiting.events.push(event)
    this.#endGroup(bytes)
  }

  /** As many whole groups as fit into one batch, at least one; empty when nothing waits. */
  take(): readonly AnySessionEvent[] {
    const waiting = this.#waiting
    const { groups, bytes } = this.#batchLimits()
    const whole = groups === waiting.ends.length
    this.#taken = whole ? waiting : firstGroups(waiting, groups)
    this.#takenBytes = bytes
    this.#waiting = whole ? none() : groupsFrom(waiting, groups)
    return this.#taken.events
  }

  /** What was taken is durable. Returns its estimated bytes. */
  settled(): number {
    const bytes = this.#takenBytes
    this.#taken = undefined
    this.#bytes -= bytes
    this.#takenBytes = 0
    return bytes
  }

  /** What was taken waits again, before everything else. */
  putBack(): void {
    const { events, ends, sizes } = this.#taken ?? none()
    const count = events.length
    for (const event of this.#waiting.events) events.push(event)
    for (const end of this.#waiting.ends) ends.push(count + end)
    for (const size of this.#waiting.sizes) sizes.push(size)
    this.#waiting = { events, ends, sizes }
    this.#taken = undefined
    this.#takenBytes = 0
  }

  #endGroup(bytes: number): void {
    this.#waiting.ends.push(this.#waiting.events.length)
    this.#waiting.sizes.push(bytes)
    this.#bytes += bytes
  }

  #batchLimits(): { readonly groups: number; readonly bytes: number } {
    const { sizes } = this.#waiting
    if (this.#bytes <= BATCH_SIZE_MAX) return { groups: sizes.length, bytes: this.#bytes }
    let bytes = 0
    let groups = 0
    for (const size of sizes) {
      if (groups > 0 && bytes + size > BATCH_SIZE_MAX) break
      bytes += size
      groups++
    }
    return { groups, bytes }
  }
}

function none(): Groups {
  return { events: [], ends: [], sizes: [] }
}

function firstGroups({ events, ends, sizes }: Groups, count: number): Groups {
  return { events: events.slice(0, ends[count - 1] ?? 0), ends: ends.slice(0, count), sizes: sizes.slice(0, count) }
}

function groupsFrom({ events, ends, sizes }: Groups, first: number): Groups {
  const start = ends[first - 1] ?? 0
  return {
    events: events.slice(start),
    ends: ends.slice(first).map((end) => end - start),
    sizes: sizes.slice(first),
  }
}
