/**
 * The in-memory backend: the reference model of the storage port, and the ephemeral mode of a harness. A medium stands
 * for the disk: several storages may share one, and what one writer stored the next one finds.
 */

import { SessionError } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import { eventJson } from '../event/event-json.ts'
import type { SessionHeader } from '../event/header.ts'
import { compareListKeys, isAfterListKey, matchesListQuery } from './list-order.ts'
import type {
  BackendDescription,
  DerivedDocument,
  Quarantine,
  SessionStorage,
  StorageCheck,
  StorageListEntry,
  StorageListQuery,
  StorageReader,
  StorageReadRange,
  StorageTail,
  StorageWriter,
  StoredRecord,
  WriterIntent,
} from './session-storage.ts'

/** Events a page: what a reader hands out at once. */
const PAGE_EVENTS = 512

interface MemoryLog {
  header: SessionHeader
  /** Only ever grows; a rewrite puts a new array in its place, so that a snapshot is an array and a length. */
  events: AnySessionEvent[]
  readonly derived: Map<DerivedDocument, string>
  /** What a rewrite replaced and was told to keep, by suffix. */
  readonly originals: Map<string, Pick<MemoryLog, 'header' | 'events'>>
  /** Counts every change, for `changed`. */
  revision: number
  /** Bytes of the first `measured` events as JSON lines. */
  bytes: number
  measured: number
}

/** Where in-memory sessions live. Opaque: made by {@link createMemoryMedium}, given to `openMemory`. */
export class MemoryMedium {
  readonly logs: Map<string, MemoryLog> = new Map()
  readonly locks: Set<string> = new Set()
  readonly watchers: Set<() => void> = new Set()

  announce(): void {
    for (const watcher of [...this.watchers]) watcher()
  }
}

export function createMemoryMedium(): MemoryMedium {
  return new MemoryMedium()
}

const DESCRIPTION: BackendDescription = Object.freeze({
  name: 'memory',
  version: '1',
  capabilities: Object.freeze({
    durability: 'memory',
    exclusion: 'medium',
    integrity: 'none',
    follow: 'medium',
    repair: 'none',
  } as const),
  modes: Object.freeze({}),
})

function newLog(header: SessionHeader): MemoryLog {
  return { header, events: [], derived: new Map(), originals: new Map(), revision: 0, bytes: 0, measured: 0 }
}

function measure(log: MemoryLog): number {
  for (; log.measured < log.events.length; log.measured++) {
    const event = log.events[log.measured]
    if (event !== undefined) log.bytes += Buffer.byteLength(eventJson(event)) + 1
  }
  return log.bytes
}

function tailOf(events: readonly AnySessionEvent[]): StorageTail {
  return { nextSeq: events.length, lastTime: events.at(-1)?.time }
}

class MemoryReader implements StorageReader {
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

class MemoryWriter implements StorageWriter {
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

function alreadyExists(id: string): SessionError {
  return new SessionError('ALREADY_EXISTS', 'a session with this id is stored already', { sessionId: id })
}

function notFound(id: string): SessionError {
  return new SessionError('NOT_FOUND', 'no session with this id is stored here', { sessionId: id })
}

function locked(id: string): SessionError {
  return new SessionError('LOCKED', `the session is open for writing in this process (pid ${process.pid})`, {
    sessionId: id,
  })
}

class MemoryStorage implements SessionStorage {
  readonly description = DESCRIPTION
  readonly #medium: MemoryMedium

  constructor(medium: MemoryMedium) {
    this.#medium = medium
  }

  async openWriter(id: string, intent: WriterIntent): Promise<StorageWriter> {
    if (this.#medium.locks.has(id)) throw locked(id)
    const stored = this.#medium.logs.get(id)
    if (intent.kind === 'create') {
      if (stored !== undefined) throw alreadyExists(id)
      this.#medium.locks.add(id)
      return new MemoryWriter(this.#medium, id, newLog(intent.header), intent.staged === true)
    }
    if (stored === undefined) throw notFound(id)
    this.#medium.locks.add(id)
    return new MemoryWriter(this.#medium, id, stored, false)
  }

  async openReader(id: string): Promise<StorageReader> {
    const stored = this.#medium.logs.get(id)
    if (stored === undefined) throw notFound(id)
    return new MemoryReader(this.#medium, id, stored)
  }

  async list(query: StorageListQuery): Promise<readonly StorageListEntry[]> {
    query.signal?.throwIfAborted()
    const entries: StorageListEntry[] = []
    for (const [id, log] of this.#medium.logs) {
      const open = this.#medium.locks.has(id)
      const entry: StorageListEntry = {
        id,
        state: open ? 'open' : 'ready',
        ...(open ? { owner: `this process (pid ${process.pid})` } : {}),
        header: log.header,
        events: log.events.length,
        updatedAt: log.events.at(-1)?.time ?? log.header.createdAt,
        bytes: measure(log),
      }
      if (matchesListQuery(entry, query) && isAfterListKey(entry, query.after)) entries.push(entry)
    }
    return entries.sort(compareListKeys).slice(0, query.limit)
  }

  async delete(id: string): Promise<boolean> {
    if (this.#medium.locks.has(id)) throw locked(id)
    const present = this.#medium.logs.delete(id)
    if (present) this.#medium.announce()
    return present
  }

  async check(id: string): Promise<StorageCheck> {
    const stored = this.#medium.logs.get(id)
    if (stored === undefined) throw notFound(id)
    return { events: stored.events.length, bytes: measure(stored), problems: [] }
  }

  async close(): Promise<void> {}
}

/** The storage port over a medium; a medium of its own when none is given. */
export function memoryStorage(medium: MemoryMedium = createMemoryMedium()): SessionStorage {
  return new MemoryStorage(medium)
}
