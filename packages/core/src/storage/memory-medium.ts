/** The place where in-memory sessions live: what the disk is to a file backend. */
import { SessionError } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import { eventJson } from '../event/event-json.ts'
import type { SessionHeader } from '../event/header.ts'
import type { DerivedDocument, StorageTail } from './session-storage.ts'

export interface MemoryLog {
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

export function newLog(header: SessionHeader): MemoryLog {
  return { header, events: [], derived: new Map(), originals: new Map(), revision: 0, bytes: 0, measured: 0 }
}

export function measure(log: MemoryLog): number {
  for (; log.measured < log.events.length; log.measured++) {
    const event = log.events[log.measured]
    if (event !== undefined) log.bytes += Buffer.byteLength(eventJson(event)) + 1
  }
  return log.bytes
}

export function tailOf(events: readonly AnySessionEvent[]): StorageTail {
  return { nextSeq: events.length, lastTime: events.at(-1)?.time }
}

export function alreadyExists(id: string): SessionError {
  return new SessionError('ALREADY_EXISTS', 'a session with this id is stored already', { sessionId: id })
}
