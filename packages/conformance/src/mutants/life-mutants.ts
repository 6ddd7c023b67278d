import type { AnySessionEvent, Session } from '@session-persistence/core'
import { changedAppend, type Mutant, pretendedEvent, shared } from './mutant.ts'

/** Wrong in opening, closing and what survives it. */
export const LIFE_MUTANTS: readonly Mutant[] = [
  {
    name: 'last-event-lost-on-reopening',
    wrong: 'A log whose medium was closed and opened again lacks its last event.',
    aimedAt: 'LIFE-1',
    persistence: (inner, medium) => {
      const handles = shared(medium, 'handles', () => ({ closedBefore: false }))
      const reopened = handles.closedBefore
      return {
        read: (id, options) => (reopened ? withoutLast(inner.read(id, options)) : inner.read(id, options)),
        close: async () => {
          handles.closedBefore = true
          return inner.close()
        },
      }
    },
  },
  {
    name: 'second-session-close-throws',
    wrong: 'Closing a closed session throws.',
    aimedAt: 'LIFE-2',
    session: (inner) => {
      let closed = false
      return {
        close: async () => {
          if (closed) throw new Error('already closed')
          closed = true
          return inner.close()
        },
      }
    },
  },
  {
    name: 'second-persistence-close-throws',
    wrong: 'Closing a closed persistence throws.',
    aimedAt: 'LIFE-3',
    persistence: (inner) => {
      let closed = false
      return {
        close: async () => {
          if (closed) throw new Error('already closed')
          closed = true
          return inner.close()
        },
      }
    },
  },
  {
    name: 'append-after-close-swallowed',
    wrong: 'An event appended after close is accepted and lost.',
    aimedAt: 'LIFE-4',
    session: (inner) => {
      let closed = false
      return {
        close: async () => {
          await inner.close()
          closed = true
        },
        append: changedAppend(inner, (append, type, data, options) =>
          closed ? pretendedEvent(inner, type, data) : append(type, data, options),
        ),
      }
    },
  },
  {
    name: 'list-after-close-answers',
    wrong: 'A closed persistence answers a list with an empty page.',
    aimedAt: 'LIFE-5',
    persistence: (inner) => {
      let closed = false
      return {
        list: async (options) => (closed ? { sessions: [] } : inner.list(options)),
        close: async () => {
          closed = true
          return inner.close()
        },
      }
    },
  },
  {
    name: 'created-session-listed-at-once',
    wrong: 'A created session is in the list before anything was flushed.',
    aimedAt: 'LIFE-6',
    persistence: (inner) => {
      const created = new Set<string>()
      return {
        create: async (options) => {
          const session = await inner.create(options)
          created.add(session.id)
          return session
        },
        list: async (options) => {
          const page = await inner.list(options)
          const known = new Set(page.sessions.map(({ id }) => id))
          const early = [...created].filter((id) => !known.has(id) && page.sessions.length === 0)
          return {
            ...page,
            sessions: [...page.sessions, ...early.map((id) => ({ id, state: 'open', bytes: 0 }) as const)],
          }
        },
      }
    },
  },
  {
    name: 'handle-caches-its-first-read',
    wrong: 'A handle that has read a session shows the same events for ever.',
    aimedAt: 'LIFE-7',
    persistence: (inner) => {
      const cache = new Map<string, readonly AnySessionEvent[]>()
      return {
        read: (id, options) => {
          if (options !== undefined) return inner.read(id, options)
          return cachedRead(inner.read(id), id, cache)
        },
      }
    },
  },
  {
    name: 'disposal-does-not-flush',
    wrong: 'Disposing of a session drops what is pending.',
    aimedAt: 'LIFE-8',
    session: (inner) => ({
      [Symbol.asyncDispose]: async () => {
        await inner.abandon()
      },
    }),
  },
  {
    name: 'close-abandons-sessions',
    wrong: 'Closing the persistence drops what its sessions had pending.',
    aimedAt: 'LIFE-9',
    persistence: (inner) => {
      const sessions: Session[] = []
      const kept = async (opening: Promise<Session>): Promise<Session> => {
        const session = await opening
        sessions.push(session)
        return session
      }
      return {
        create: (options) => kept(inner.create(options)),
        resume: (id, options) => kept(inner.resume(id, options)),
        close: async () => {
          for (const session of sessions) await session.abandon()
          return inner.close()
        },
      }
    },
  },
  {
    name: 'abandon-flushes',
    wrong: 'Abandoning a session stores its pending events.',
    aimedAt: 'LIFE-10',
    session: (inner) => ({
      abandon: async () => {
        const pending = inner.pendingEvents()
        await inner.close()
        return pending
      },
    }),
  },
  {
    name: 'read-starts-before-it-is-iterated',
    wrong: 'A read opens the log at the call, and its failure is nobody’s when it is never iterated.',
    aimedAt: 'LIFE-11',
    persistence: (inner) => ({
      read: (id, options) => {
        const events = inner.read(id, options)[Symbol.asyncIterator]()
        // Its own promise: one that the inner read hands out may be handled elsewhere.
        const first = events.next().then((result) => result)
        let started = false
        return {
          [Symbol.asyncIterator]: () => ({
            next: () => {
              if (started) return events.next()
              started = true
              return first
            },
            return: async () => (await events.return?.()) ?? { done: true, value: undefined },
          }),
        }
      },
    }),
  },
]

async function* withoutLast(events: AsyncIterable<AnySessionEvent>): AsyncGenerator<AnySessionEvent> {
  let held: AnySessionEvent | undefined
  for await (const event of events) {
    if (held !== undefined) yield held
    held = event
  }
}

async function* cachedRead(
  events: AsyncIterable<AnySessionEvent>,
  id: string,
  cache: Map<string, readonly AnySessionEvent[]>,
): AsyncGenerator<AnySessionEvent> {
  const known = cache.get(id)
  if (known !== undefined) {
    yield* known
    return
  }
  const all: AnySessionEvent[] = []
  for await (const event of events) {
    all.push(event)
    yield event
  }
  cache.set(id, all)
}
