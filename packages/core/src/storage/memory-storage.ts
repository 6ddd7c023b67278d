/**
 * The in-memory backend: the reference model of the storage port, and the ephemeral mode of a harness. A medium stands
 * for the disk: several storages may share one, and what one writer stored the next one finds.
 */
import { SessionError } from '../errors.ts'
import { compareListKeys, isAfterListKey, matchesListQuery } from './list-order.ts'
import { alreadyExists, createMemoryMedium, type MemoryMedium, measure, newLog } from './memory-medium.ts'
import { MemoryReader } from './memory-reader.ts'
import { MemoryWriter } from './memory-writer.ts'
import type {
  BackendDescription,
  SessionStorage,
  StorageCheck,
  StorageListEntry,
  StorageListQuery,
  StorageReader,
  StorageWriter,
  WriterIntent,
} from './session-storage.ts'

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
    const stored = this.#medium.logs.get(id)
    // A log that is not published yet is seen by nobody, its lock included.
    if (intent.kind === 'resume') {
      if (stored === undefined) throw notFound(id)
      if (this.#medium.locks.has(id)) throw locked(id)
      this.#medium.locks.add(id)
      return new MemoryWriter(this.#medium, id, stored, false)
    }
    if (this.#medium.locks.has(id)) throw locked(id)
    if (stored !== undefined) throw alreadyExists(id)
    this.#medium.locks.add(id)
    return new MemoryWriter(this.#medium, id, newLog(intent.header), intent.staged === true)
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
