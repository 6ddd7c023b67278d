/** The exclusive writer of one in-memory log. */
import { SessionError } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import type { SessionHeader } from '../event/header.ts'
import { alreadyExists, type MemoryLog, type MemoryMedium, newLog, tailOf } from './memory-medium.ts'
import { MemoryReader } from './memory-reader.ts'
import type { DerivedDocument, Quarantine, StorageReader, StorageTail, StorageWriter } from './session-storage.ts'

export class MemoryWriter implements StorageWriter {
  readonly tail: StorageTail
  readonly location: string
  readonly #medium: MemoryMedium
  readonly #id: string
  readonly #log: MemoryLog
  #staged: boolean

  constructor(medium: MemoryMedium, id: string, log: MemoryLog, staged: boolean) {
    this.#medium = medium
    this.#id = id
    this.#log = log
    this.#staged = staged
    this.tail = tailOf(log.events)
    this.location = `memory:${id}`
  }

  get header(): SessionHeader {
    return this.#log.header
  }

  async openReader(): Promise<StorageReader> {
    return new MemoryReader(this.#medium, this.#id, this.#log)
  }

  async append(events: readonly AnySessionEvent[]): Promise<void> {
    let expected = this.#log.events.length
    for (const event of events) {
      if (event.seq !== expected++) throw conflict(expected - 1, event.seq)
    }
    for (const event of events) this.#log.events.push(event)
    if (!this.#staged) await this.publish()
    this.#log.revision++
    this.#medium.announce()
  }

  async settle(): Promise<void> {}

  async discardTornTail(): Promise<Quarantine> {
    throw new SessionError('INVALID_ARGUMENT', 'there is no torn tail in memory')
  }

  async publish(): Promise<void> {
    const present = this.#medium.logs.get(this.#id)
    if (present === this.#log) return
    if (present !== undefined) throw alreadyExists(this.#id)
    this.#staged = false
    this.#medium.logs.set(this.#id, this.#log)
    this.#medium.announce()
  }

  async rewrite(
    header: SessionHeader,
    events: AsyncIterable<readonly AnySessionEvent[]>,
    keepOriginal?: string,
  ): Promise<string | undefined> {
    const next = newLog(header)
    for await (const page of events) {
      for (const event of page) next.events.push(event)
    }
    if (keepOriginal !== undefined) {
      this.#log.originals.set(keepOriginal, { header: this.#log.header, events: this.#log.events })
    }
    Object.assign(this.#log, { header, events: next.events, bytes: 0, measured: 0 })
    this.#log.derived.clear()
    this.#log.revision++
    this.#medium.announce()
    return keepOriginal === undefined ? undefined : `${this.location}.${keepOriginal}`
  }

  async saveDerived(document: DerivedDocument, text: string): Promise<void> {
    this.#log.derived.set(document, text)
  }

  async close(): Promise<void> {
    this.#medium.locks.delete(this.#id)
  }
}

function conflict(expected: number, found: number): SessionError {
  return new SessionError('CONFLICT', `expected to append seq ${expected}, got ${found}`, {
    seq: found,
    expected,
    found,
  })
}
