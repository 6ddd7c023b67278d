import { crc32 } from 'node:zlib'
import type {
  AnySessionEvent,
  AppendOptions,
  EventInput,
  HeadReceipt,
  ReadOptions,
  Session,
  SessionPersistence,
} from '@session-persistence/core'

/** Everything that an iterable yields. */
export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** The stored log of one session. */
export function storedEvents(
  persistence: SessionPersistence,
  id: string,
  options?: ReadOptions,
): Promise<readonly AnySessionEvent[]> {
  return collect(persistence.read(id, options))
}

/** The log without the record that a new writer puts before its first own event. */
export function withoutResumed(events: readonly AnySessionEvent[]): readonly AnySessionEvent[] {
  return events.filter((event) => event.type !== 'session/resumed')
}

/** What went in, comparable with what was stored. */
export function contentOf(event: EventInput | AnySessionEvent): unknown {
  return {
    type: event.type,
    data: event.data,
    ...(event.surface === undefined ? {} : { surface: event.surface }),
    ...(event.sources === undefined ? {} : { sources: event.sources }),
  }
}

/** Appends what the types would not let through. */
export function appendUntyped(session: Session, type: string, data: unknown, options?: AppendOptions): AnySessionEvent {
  const append = session.append as (type: string, data: unknown, options?: AppendOptions) => AnySessionEvent
  return append.call(session, type, data, options)
}

/** Appends one by one. */
export function appendEach(session: Session, events: readonly EventInput[]): readonly AnySessionEvent[] {
  return events.map(({ type, data, ...options }) => appendUntyped(session, type, data, options))
}

/** A stored, closed session with these events, each batch flushed by itself. */
export async function storeSession(
  persistence: SessionPersistence,
  id: string,
  batches: readonly (readonly EventInput[])[],
): Promise<readonly AnySessionEvent[]> {
  const session = await persistence.create({ id })
  const events: AnySessionEvent[] = []
  for (const batch of batches) {
    events.push(...session.appendAll(batch))
    await session.flush()
  }
  await session.close()
  return events
}

/** The receipt of a log, computed from the definition and from nothing of the product. */
export function receiptOf(events: readonly AnySessionEvent[]): HeadReceipt | undefined {
  const last = events.at(-1)
  if (last === undefined) return undefined
  const { seq, time, type, data, ignorable, surface, sources } = last
  const canonical = JSON.stringify({ seq, time, type, data, ignorable, surface, sources })
  return { seq, crc: crc32(Buffer.from(canonical, 'utf8')).toString(16).padStart(8, '0') }
}
