import { isSessionError, SessionError } from '@session-persistence/core'
import { changedReads, type Events, type Mutant, shared } from './mutant.ts'

/** Reads through the persistence with other options or another outcome. */
function persistenceRead(
  name: string,
  wrong: string,
  aimedAt: string,
  read: (...args: Parameters<NonNullable<Mutant['persistence']>>) => (id: string, options?: ReadArguments) => Events,
): Mutant {
  return { name, wrong, aimedAt, persistence: (inner, medium, options) => ({ read: read(inner, medium, options) }) }
}

interface ReadArguments {
  readonly from?: number
  readonly to?: number
  readonly reverse?: boolean
  readonly signal?: AbortSignal
}

export const READ_MUTANTS: readonly Mutant[] = [
  persistenceRead('range-excludes-its-end', 'A range ends before `to`.', 'READ-1', (inner) => (id, options = {}) => {
    if (options.to === undefined || options.to < 1 || options.from === options.to) return inner.read(id, options)
    return inner.read(id, { ...options, to: options.to - 1 })
  }),
  persistenceRead('from-needs-a-to', 'A read without `to` begins at 0.', 'READ-2', (inner) => (id, options = {}) => {
    const { from, ...rest } = options
    return inner.read(id, options.to === undefined && (from ?? 0) < 1000 && (from ?? 0) >= 0 ? rest : options)
  }),
  persistenceRead('reverse-ignored', 'Reverse reads come oldest first.', 'READ-3', (inner) => (id, options = {}) => {
    return inner.read(id, { ...options, reverse: false })
  }),
  persistenceRead('past-the-end-refused', 'A range past the end throws.', 'READ-4', (inner) => (id, options = {}) => {
    if ((options.from ?? 0) >= 10_000) throw new SessionError('INVALID_ARGUMENT', 'past the end', { sessionId: id })
    return inner.read(id, options)
  }),
  persistenceRead('missing-reads-as-empty', 'A session that is not there reads as empty.', 'READ-5', (inner) => {
    return async function* (id, options) {
      try {
        yield* inner.read(id, options)
      } catch (error) {
        if (!isSessionError(error, 'NOT_FOUND')) throw error
      }
    }
  }),
  persistenceRead(
    'bad-bounds-clamped',
    'A bound that is no seq is taken for 0.',
    'READ-6',
    (inner) =>
      (id, options = {}) => {
        const { from, to, ...rest } = options
        const clamped = (bound: number): number => (Number.isSafeInteger(bound) && bound >= 0 ? bound : 0)
        return inner.read(id, {
          ...rest,
          ...(from === undefined ? {} : { from: clamped(from) }),
          ...(to === undefined ? {} : { to: clamped(to) }),
        })
      },
  ),
  {
    name: 'early-exit-leaks',
    wrong: 'A read that was left early holds the session for ever.',
    aimedAt: 'READ-7',
    persistence: (inner, medium) => {
      const held = shared(medium, 'held-by-reads', () => new Set<string>())
      return {
        read: async function* (id, options) {
          let finished = false
          try {
            yield* inner.read(id, options)
            finished = true
          } catch (error) {
            finished = true
            throw error
          } finally {
            if (!finished) held.add(id)
          }
        },
        delete: async (id) => {
          if (held.has(id)) throw new SessionError('BUSY', 'a reader is open', { sessionId: id })
          return inner.delete(id)
        },
      }
    },
  },
  {
    name: 'event-twice-when-the-log-grows',
    wrong: 'A read that sees the log grow yields an event twice.',
    aimedAt: 'READ-8',
    ...changedReads(async function* (events, id, _options, medium) {
      const flushes = shared(medium, 'flushes', () => new Map<string, number>())
      let seen = flushes.get(id) ?? 0
      for await (const event of events) {
        yield event
        const now = flushes.get(id) ?? 0
        if (now !== seen) yield event
        seen = now
      }
    }),
    session: (inner, medium) => {
      const flushes = shared(medium, 'flushes', () => new Map<string, number>())
      return {
        flush: async () => {
          flushes.set(inner.id, (flushes.get(inner.id) ?? 0) + 1)
          return inner.flush()
        },
      }
    },
  },
  persistenceRead('abort-reason-replaced', 'An aborted read rejects with an error of its own.', 'READ-9', (inner) => {
    return (id, options = {}) => {
      if (options.signal?.aborted === true) throw new DOMException('aborted', 'AbortError')
      return inner.read(id, options)
    }
  }),
  persistenceRead('abort-in-the-middle-ignored', 'A read that has begun cannot be aborted.', 'READ-10', (inner) => {
    return (id, options = {}) => {
      const { signal, ...rest } = options
      return inner.read(id, signal?.aborted === true ? options : rest)
    }
  }),
  {
    name: 'one-read-at-a-time',
    wrong: 'A second read of a session while the first one runs is empty.',
    aimedAt: 'READ-11',
    persistence: (inner) => {
      const reading = new Set<string>()
      return {
        read: async function* (id, options) {
          if (reading.has(id)) return
          reading.add(id)
          try {
            yield* inner.read(id, options)
          } finally {
            reading.delete(id)
          }
        },
      }
    },
  },
  {
    name: 'own-read-shows-pending',
    wrong: 'A session’s own read yields events that are not durable.',
    aimedAt: 'READ-12',
    session: (inner) => ({
      read: async function* (options) {
        yield* inner.read(options)
        yield* inner.pendingEvents()
      },
    }),
  },
  {
    name: 'follow-ends-at-the-stored-end',
    wrong: 'Follow yields what is stored and ends.',
    aimedAt: 'READ-13',
    persistence: (inner) => ({ follow: (id, options) => inner.read(id, options) }),
  },
  {
    name: 'follow-from-the-beginning',
    wrong: 'Follow ignores where it is told to begin.',
    aimedAt: 'READ-14',
    persistence: (inner) => ({
      follow: (id, options = {}) => {
        const { from: _, ...rest } = options
        return inner.follow(id, rest)
      },
    }),
  },
  {
    name: 'inspect-always-at-the-end',
    wrong: 'Inspect ignores the seq that it is asked about.',
    aimedAt: 'READ-15',
    persistence: (inner) => ({
      inspect: (id, options = {}) => {
        const { at: _, ...rest } = options
        return inner.inspect(id, rest)
      },
    }),
  },
  {
    name: 'second-writer-anonymous',
    wrong: 'The record of a resume does not say who resumed.',
    aimedAt: 'READ-17',
    ...changedReads(async function* (events) {
      for await (const event of events) yield event.type === 'session/resumed' ? { ...event, data: {} } : event
    }),
  },
  {
    name: 'pages-reversed-without-their-events',
    wrong: 'Reversed pages hold their events oldest first.',
    aimedAt: 'READ-18',
    persistence: (inner) => ({
      readPages: async function* (id, options) {
        for await (const page of inner.readPages(id, options))
          yield options?.reverse === true ? page.toReversed() : page
      },
    }),
  },
  {
    name: 'plain-reasons-wrapped',
    wrong: 'A reason of an abort that is no Error is wrapped in one.',
    aimedAt: 'ERR-4',
    persistence: (inner) => ({
      list: async (options) => {
        const reason: unknown = options?.signal?.reason
        if (options?.signal?.aborted === true && !(reason instanceof Error)) throw new Error(String(reason))
        return inner.list(options)
      },
    }),
  },
]
