import { type EventInput, isSessionError, LIMITS, type Session, SessionError } from '@session-persistence/core'
import { changedAppend, changedEvents, type Mutant, pretendedEvent, shared } from './mutant.ts'

/** Gives an error with another code, where `about` says so. */
function otherCode(name: string, wrong: string, aimedAt: string, limit: number): Mutant {
  return {
    name,
    wrong,
    aimedAt,
    session: (inner) => ({
      append: changedAppend(inner, (append, type, data, options) => {
        try {
          return append(type, data, options)
        } catch (error) {
          if (isSessionError(error, 'TOO_LARGE') && error.expected === limit) {
            throw new SessionError('INVALID_EVENT', 'too much', { sessionId: inner.id })
          }
          throw error
        }
      }),
    }),
  }
}

export const APPEND_MUTANTS: readonly Mutant[] = [
  {
    name: 'append-returns-unfrozen',
    wrong: 'Append returns a copy that can be changed.',
    aimedAt: 'APPEND-2',
    session: (inner) => ({
      append: changedAppend(inner, (append, ...args) => structuredClone(append(...args))),
    }),
  },
  {
    name: 'stores-by-reference',
    wrong: 'What is stored is the caller’s own object.',
    aimedAt: 'APPEND-3',
    persistence: (inner, medium) => {
      const references = shared(medium, 'references', () => new Map<string, unknown>())
      return {
        read: async function* (id, options) {
          for await (const event of inner.read(id, options)) {
            const key = `${id} ${event.seq}`
            yield references.has(key) ? { ...event, data: references.get(key) } : event
          }
        },
      }
    },
    session: (inner, medium) => ({
      append: changedAppend(inner, (append, type, data, options) => {
        const event = append(type, data, options)
        const references = shared(medium, 'references', () => new Map<string, unknown>())
        if (JSON.stringify(event.data) === JSON.stringify(data)) references.set(`${inner.id} ${event.seq}`, data)
        return event
      }),
    }),
  },
  {
    name: 'append-all-one-by-one',
    wrong: 'appendAll appends one event after the other, and stops in the middle.',
    aimedAt: 'APPEND-4',
    session: (inner) => ({
      appendAll: ((events: readonly EventInput[]) =>
        events.flatMap((event) => inner.appendAll([event]))) as Session['appendAll'],
    }),
  },
  {
    name: 'empty-group-refused',
    wrong: 'An empty appendAll throws.',
    aimedAt: 'APPEND-5',
    session: (inner) => ({
      appendAll: (events) => {
        if (events.length === 0) throw new SessionError('INVALID_ARGUMENT', 'no events')
        return inner.appendAll(events)
      },
    }),
  },
  {
    name: 'refusal-ends-the-session',
    wrong: 'After one refused event nothing can be appended any more.',
    aimedAt: 'APPEND-6',
    session: (inner) => {
      let ended = false
      return {
        append: changedAppend(inner, (append, ...args) => {
          if (ended) throw new SessionError('CLOSED', 'an event was refused before', { sessionId: inner.id })
          try {
            return append(...args)
          } catch (error) {
            ended = isSessionError(error, 'INVALID_EVENT')
            throw error
          }
        }),
      }
    },
  },
  otherCode('depth-limit-unnamed', 'Data that nests too deep is refused with another code.', 'APPEND-7', LIMITS.depth),
  otherCode(
    'size-limit-unnamed',
    'An event that is too large is refused with another code.',
    'APPEND-8',
    LIMITS.eventBytes,
  ),
  {
    name: 'pending-bound-ignored',
    wrong: 'The bound of pending bytes is ignored.',
    aimedAt: 'APPEND-9',
    options: ({ pendingBytes: _, ...options }) => options,
  },
  {
    name: 'event-lost-under-many-flushes',
    wrong: 'With five flushes at once one event is lost.',
    aimedAt: 'APPEND-10',
    ...changedEvents((event, id, medium) => {
      return shared(medium, 'lost', () => new Set<string>()).has(`${id} ${event.seq}`) ? undefined : event
    }),
    session: (inner, medium) => {
      let running = 0
      return {
        flush: async () => {
          running += 1
          const lost = shared(medium, 'lost', () => new Set<string>())
          if (running === 5) lost.add(`${inner.id} ${inner.nextSeq - 1}`)
          try {
            return await inner.flush()
          } finally {
            running -= 1
          }
        },
      }
    },
  },
  {
    name: 'clock-never-goes-back',
    wrong: 'A time before the last one is replaced by the last one.',
    aimedAt: 'APPEND-11',
    options: (options) => {
      let last = 0
      return {
        ...options,
        clock: () => {
          last = Math.max(last, options.clock?.() ?? Date.now())
          return last
        },
      }
    },
  },
  {
    name: 'ignorable-mark-lost',
    wrong: 'The ignorable mark is not stored.',
    aimedAt: 'APPEND-12',
    ...changedEvents(({ ignorable: _, ...event }) => event),
  },
  {
    name: 'unknown-types-swallowed',
    wrong: 'An event of an unknown type is accepted and dropped.',
    aimedAt: 'APPEND-12',
    session: (inner) => ({
      append: changedAppend(inner, (append, type, data, options) => {
        try {
          return append(type, data, options)
        } catch (error) {
          if (!isSessionError(error, 'UNKNOWN_EVENT')) throw error
          return pretendedEvent(inner, type, data)
        }
      }),
    }),
  },
  {
    name: 'schemas-not-run',
    wrong: 'Schemas of the catalog are never run.',
    aimedAt: 'APPEND-13',
    options: (options) => ({
      ...options,
      events: Object.fromEntries(
        Object.entries(options.events ?? {}).map(([type, { ignorable }]) => [type, { ignorable }]),
      ),
    }),
  },
  {
    name: 'listeners-hear-late',
    wrong: 'Listeners hear an event after append returned.',
    aimedAt: 'APPEND-14',
    session: (inner) => ({
      subscribe: (listener) => inner.subscribe((event) => queueMicrotask(() => listener(event))),
    }),
  },
  {
    name: 'redaction-ignored',
    wrong: 'The redaction hook is never called.',
    aimedAt: 'APPEND-15',
    options: ({ redact: _, ...options }) => options,
  },
  {
    name: 'sources-lost',
    wrong: 'The sources of an event are not stored.',
    aimedAt: 'APPEND-16',
    ...changedEvents(({ sources: _, ...event }) => event),
  },
]
