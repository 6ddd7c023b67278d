import { type AnySessionEvent, isSessionError, SessionError, type SessionEventMap } from '@session-persistence/core'
import { changedEvents, type Mutant, overlay, shared } from './mutant.ts'

function dataOf(event: AnySessionEvent): Readonly<Record<string, unknown>> {
  return event.data as Readonly<Record<string, unknown>>
}

export const RECOVERY_MUTANTS: readonly Mutant[] = [
  {
    name: 'resume-leaves-turns-open',
    wrong: 'A resume never closes a turn.',
    aimedAt: 'RECOVER-1',
    persistence: (inner) => ({ resume: (id, options) => inner.resume(id, { ...options, openTurn: 'keep' }) }),
  },
  {
    name: 'resume-always-closes-turns',
    wrong: 'A resume that is told to keep the turn closes it.',
    aimedAt: 'RECOVER-2',
    persistence: (inner) => ({
      resume: (id, options = {}) => {
        const { openTurn, ...rest } = options
        return inner.resume(id, openTurn === 'keep' ? rest : options)
      },
    }),
  },
  {
    name: 'second-resume-adds',
    wrong: 'Every resume after the first one leaves a record.',
    aimedAt: 'RECOVER-3',
    persistence: (inner, medium) => {
      const resumed = shared(medium, 'resumed', () => new Set<string>())
      return {
        resume: async (id, options) => {
          const session = await inner.resume(id, options)
          if (resumed.has(id)) {
            session.append('session/title', { title: 'resumed' })
            await session.flush()
          }
          resumed.add(id)
          return session
        },
      }
    },
  },
  {
    name: 'recovery-report-without-calls',
    wrong: 'The recovery report does not list open calls.',
    aimedAt: 'RECOVER-4',
    session: (inner) => ({
      recovery: inner.recovery === undefined ? inner.recovery : { ...inner.recovery, openCalls: [] },
    }),
  },
  {
    name: 'inspect-repairs',
    wrong: 'Inspecting a session closes its open turn.',
    aimedAt: 'RECOVER-5',
    persistence: (inner) => ({
      inspect: async (id, options) => {
        if (options?.signal?.aborted !== true) {
          await inner.resume(id, { preserveUnknown: true }).then(
            (session) => session.close(),
            () => {},
          )
        }
        return inner.inspect(id, options)
      },
    }),
  },
  {
    name: 'closers-timed-at-resume',
    wrong: 'What recovery adds carries the time of the resume.',
    aimedAt: 'RECOVER-6',
    ...changedEvents((event) => {
      if (event.type !== 'turn/end') return event
      const { kind } = dataOf(event).reason as SessionEventMap['turn/end']['reason']
      return kind === 'interrupted' ? { ...event, time: event.time + 50_000 } : event
    }),
  },
  {
    name: 'reconcile-never-asked',
    wrong: 'A resume never asks what became of a call.',
    aimedAt: 'RECOVER-7',
    persistence: (inner) => ({
      resume: (id, options = {}) => {
        const { reconcile: _, ...rest } = options
        return inner.resume(id, rest)
      },
    }),
  },
  {
    name: 'reconcile-failure-swallowed',
    wrong: 'A reconcile that throws counts as one that knows nothing.',
    aimedAt: 'RECOVER-8',
    persistence: (inner) => ({
      resume: (id, options = {}) => {
        const { reconcile } = options
        if (reconcile === undefined) return inner.resume(id, options)
        return inner.resume(id, {
          ...options,
          reconcile: (call, signal) => reconcile(call, signal).catch(() => undefined),
        })
      },
    }),
  },
  {
    name: 'failed-resume-keeps-the-lock',
    wrong: 'A refused resume leaves the session locked.',
    aimedAt: 'RECOVER-11',
    persistence: (inner) => ({
      resume: async (id, options) => {
        try {
          return await inner.resume(id, options)
        } catch (error) {
          const held = !isSessionError(error) || error.code === 'CORRUPT'
          if (held) await inner.resume(id, { openTurn: 'keep', preserveUnknown: true }).catch(() => {})
          throw error
        }
      },
    }),
  },
  {
    name: 'compaction-forgotten-at-resume',
    wrong: 'A resumed session shows every message that was ever live.',
    aimedAt: 'RECOVER-12',
    persistence: (inner) => ({
      resume: async (id, options) => {
        const session = await inner.resume(id, options)
        const all: unknown[] = []
        for await (const event of inner.read(id)) {
          if (typeof event.data === 'object' && event.data !== null && 'message' in event.data)
            all.push(event.data.message)
        }
        const resumedAt = session.nextSeq
        return overlay(session, { messages: () => (session.nextSeq === resumedAt ? all : session.messages()) })
      },
    }),
  },
  {
    name: 'newer-imports-accepted',
    wrong: 'A log of a newer format is imported as if it were of this one.',
    aimedAt: 'VERSION-1',
    persistence: (inner) => ({
      importLog: (source, options) => inner.importLog({ ...source, header: { ...source.header, version: 1 } }, options),
    }),
  },
  {
    name: 'unknown-types-hidden',
    wrong: 'A view does not name the types that it does not know.',
    aimedAt: 'VERSION-3',
    view: () => ({ unknownTypes: [] }),
  },
  {
    name: 'unknown-types-resumed',
    wrong: 'A log with required types that nobody knows is resumed.',
    aimedAt: 'VERSION-4',
    persistence: (inner) => ({ resume: (id, options) => inner.resume(id, { ...options, preserveUnknown: true }) }),
  },
  {
    name: 'ignorable-types-refused',
    wrong: 'A log with ignorable types that nobody knows is not resumed.',
    aimedAt: 'VERSION-5',
    persistence: (inner, _medium, options) => ({
      resume: async (id, resumed) => {
        const session = await inner.resume(id, resumed)
        for await (const event of inner.read(id)) {
          if (event.ignorable !== true || options.events?.[event.type] !== undefined) continue
          await session.abandon()
          throw new SessionError('UNKNOWN_EVENT', event.type, { sessionId: id })
        }
        return session
      },
    }),
  },
  {
    name: 'unknown-data-dropped-by-import',
    wrong: 'An import empties the events that it does not know.',
    aimedAt: 'VERSION-6',
    persistence: (inner) => ({
      importLog: (source, options) => {
        async function* emptied(): AsyncGenerator<readonly AnySessionEvent[]> {
          for await (const page of source.events) {
            yield page.map((event) => (event.type.startsWith('acme/') ? { ...event, data: {} } : event))
          }
        }
        return inner.importLog({ ...source, events: emptied() }, options)
      },
    }),
  },
]
