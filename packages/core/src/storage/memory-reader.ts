/** A snapshot of one in-memory log: an array that only grows, and the length that it had. */
import type { AnySessionEvent } from '../event/event.ts'
import type { SessionHeader } from '../event/header.ts'
import { type MemoryLog, type MemoryMedium, measure, tailOf } from './memory-medium.ts'
import type { DerivedDocument, StorageReader, StorageReadRange, StorageTail, StoredRecord } from './session-storage.ts'

/** Events a page: what a reader hands out at once. */
const PAGE_EVENTS = 512

export class MemoryReader implements StorageReader {
  readonly header: SessionHeader
  readonly tail: StorageTail
  readonly #medium: MemoryMedium
  readonly #id: string
  readonly #log: MemoryLog
  readonly #events: readonly AnySessionEvent[]
  readonly #revision: number

  constructor(medium: MemoryMedium, id: string, log: MemoryLog) {
    this.#medium = medium
    this.#id = id
    this.#log = log
    this.#events = log.events
    this.#revision = log.revision
    this.header = log.header
    this.tail = tailOf(log.events)
  }

  get bytes(): number {
    return measure(this.#log)
  }

  async *read(range: StorageReadRange): AsyncIterable<readonly StoredRecord[]> {
    const from = range.from ?? 0
    const to = Math.min(range.to ?? Number.POSITIVE_INFINITY, this.tail.nextSeq - 1)
    if (range.reverse === true) {
      for (let end = to; end >= from; end -= PAGE_EVENTS) {
        range.signal?.throwIfAborted()
        yield this.#events.slice(Math.max(from, end - PAGE_EVENTS + 1), end + 1).reverse()
      }
      return
    }
    for (let start = from; start <= to; start += PAGE_EVENTS) {
      range.signal?.throwIfAborted()
      yield this.#events.slice(start, Math.min(to, start + PAGE_EVENTS - 1) + 1)
    }
  }

  async derived(document: DerivedDocument): Promise<string | undefined> {
    return this.#log.derived.get(document)
  }

  changed(signal?: AbortSignal): Promise<'changed' | 'deleted'> {
    const verdict = (): 'changed' | 'deleted' | undefined => {
      const current = this.#medium.logs.get(this.#id)
      if (current === undefined) return 'deleted'
      return current === this.#log && current.revision === this.#revision ? undefined : 'changed'
    }
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#medium.watchers.delete(look)
        signal?.removeEventListener('abort', abort)
      }
      const abort = (): void => {
        stop()
        reject(signal?.reason)
      }
      const look = (): void => {
        const found = verdict()
        if (found === undefined) return
        stop()
        resolve(found)
      }
      if (signal?.aborted === true) return abort()
      this.#medium.watchers.add(look)
      signal?.addEventListener('abort', abort, { once: true })
      look()
    })
  }

  async close(): Promise<void> {}
}
