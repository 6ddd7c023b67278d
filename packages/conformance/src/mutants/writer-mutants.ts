import { isSessionError, type Session, SessionError, type SessionSummary } from '@session-persistence/core'
import { type Mutant, type MutantMedium, shared } from './mutant.ts'

/** Sessions that are open on a medium, by id. */
function openSessions(medium: MutantMedium): Map<string, Session> {
  return shared(medium, 'open-sessions', () => new Map<string, Session>())
}

/** Keeps {@link openSessions} true. */
function tracked(
  extra: (inner: Session, medium: MutantMedium) => Partial<Session> = () => ({}),
): NonNullable<Mutant['session']> {
  return (inner, medium) => {
    const sessions = openSessions(medium)
    sessions.set(inner.id, inner)
    return {
      close: async () => {
        await inner.close()
        sessions.delete(inner.id)
      },
      abandon: async () => {
        const pending = await inner.abandon()
        sessions.delete(inner.id)
        return pending
      },
      ...extra(inner, medium),
    }
  }
}

export const WRITER_MUTANTS: readonly Mutant[] = [
  {
    name: 'second-delete-throws',
    wrong: 'Deleting what is not there throws.',
    aimedAt: 'DELETE-1',
    persistence: (inner) => ({
      delete: async (id) => {
        if (await inner.delete(id)) return true
        throw new SessionError('NOT_FOUND', 'nothing to delete', { sessionId: id })
      },
    }),
  },
  {
    name: 'deleted-sessions-listed',
    wrong: 'A deleted session stays in the list.',
    aimedAt: 'DELETE-2',
    persistence: (inner, medium) => {
      const gone = shared(medium, 'gone', (): SessionSummary[] => [])
      return {
        delete: async (id) => {
          const [summary] = (await inner.list({ limit: 1000 })).sessions.filter((one) => one.id === id)
          const deleted = await inner.delete(id)
          if (summary !== undefined) gone.push(summary)
          return deleted
        },
        list: async (options) => {
          const page = await inner.list(options)
          return page.sessions.length > 0 ? page : { sessions: gone }
        },
      }
    },
  },
  {
    name: 'old-title-comes-back',
    wrong: 'A session under the id of a deleted one has that one’s title.',
    aimedAt: 'DELETE-3',
    persistence: (inner, medium) => {
      const titles = shared(medium, 'titles', () => new Map<string, string>())
      return {
        delete: async (id) => {
          const found = (await inner.list({ limit: 1000 })).sessions.find((summary) => summary.id === id)
          if (found?.title !== undefined) titles.set(id, found.title)
          return inner.delete(id)
        },
        list: async (options) => {
          const page = await inner.list(options)
          const sessions = page.sessions.map((summary) => {
            const title = summary.title ?? titles.get(summary.id)
            return title === undefined ? summary : { ...summary, title }
          })
          return { ...page, sessions }
        },
      }
    },
  },
  {
    name: 'delete-takes-it-from-its-writer',
    wrong: 'A session is deleted while somebody writes it.',
    aimedAt: 'DELETE-4',
    session: tracked(),
    persistence: (inner, medium) => ({
      delete: async (id) => {
        try {
          return await inner.delete(id)
        } catch (error) {
          const session = openSessions(medium).get(id)
          if (!isSessionError(error, 'LOCKED') || session === undefined) throw error
          await session.abandon()
          return inner.delete(id)
        }
      },
    }),
  },
  {
    name: 'delete-by-prefix',
    wrong: 'Every session whose id begins alike is deleted too.',
    aimedAt: 'DELETE-5',
    persistence: (inner) => ({
      delete: async (id) => {
        const deleted = await inner.delete(id)
        for (const summary of (await inner.list({ limit: 1000 })).sessions) {
          if (summary.id.startsWith(id)) await inner.delete(summary.id)
        }
        return deleted
      },
    }),
  },
  {
    name: 'second-resume-shares-the-session',
    wrong: 'A handle that resumes twice gets the same session twice.',
    aimedAt: 'CONC-1',
    persistence: (inner) => {
      const own = new Map<string, Promise<Session>>()
      return {
        create: async (options) => {
          const session = await inner.create(options)
          own.set(session.id, Promise.resolve(session))
          return session
        },
        resume: async (id, options) => {
          const resuming = inner.resume(id, options)
          const known = own.get(id)
          if (known === undefined) own.set(id, resuming)
          try {
            return await resuming
          } catch (error) {
            if (!isSessionError(error, 'LOCKED') || known === undefined) throw error
            return known
          }
        },
      }
    },
  },
  {
    name: 'abandon-keeps-the-lock',
    wrong: 'An abandoned session stays locked.',
    aimedAt: 'CONC-2',
    session: (inner, medium) => ({
      abandon: async () => {
        const pending = await inner.abandon()
        shared(medium, 'abandoned', () => new Set<string>()).add(inner.id)
        return pending
      },
    }),
    persistence: (inner, medium) => ({
      resume: async (id, options) => {
        if (shared(medium, 'abandoned', () => new Set<string>()).has(id)) {
          throw new SessionError('LOCKED', 'abandoned', { sessionId: id })
        }
        return inner.resume(id, options)
      },
    }),
  },
  {
    name: 'readers-kept-out',
    wrong: 'A session that somebody writes cannot be inspected.',
    aimedAt: 'CONC-3',
    session: tracked(),
    persistence: (inner, medium) => ({
      inspect: async (id, options) => {
        if (openSessions(medium).has(id)) throw new SessionError('LOCKED', 'held', { sessionId: id })
        return inner.inspect(id, options)
      },
    }),
  },
  {
    name: 'locked-resume-writes-elsewhere',
    wrong: 'A resume of a session that is held goes on in a session of its own.',
    aimedAt: 'CAP-3',
    persistence: (inner) => ({
      resume: async (id, options) => {
        try {
          return await inner.resume(id, options)
        } catch (error) {
          if (!isSessionError(error, 'LOCKED')) throw error
          return inner.create({ cwd: id })
        }
      },
    }),
  },
  {
    name: 'many-resumes-win',
    wrong: 'Of two resumes at the same moment the loser waits and shares.',
    aimedAt: 'CONC-4',
    persistence: (inner) => {
      const resuming = new Map<string, Promise<Session>>()
      return {
        resume: async (id, options) => {
          const running = resuming.get(id)
          if (running !== undefined) return running
          const started = inner.resume(id, options)
          resuming.set(id, started)
          try {
            return await started
          } finally {
            resuming.delete(id)
          }
        },
      }
    },
  },
  {
    name: 'second-create-gets-another-name',
    wrong: 'Creating an id that is being created gives a session under another id.',
    aimedAt: 'CONC-5',
    persistence: (inner) => ({
      create: async (options = {}) => {
        try {
          return await inner.create(options)
        } catch (error) {
          if (!isSessionError(error, 'LOCKED')) throw error
          const { id: _, ...rest } = options
          return inner.create(rest)
        }
      },
    }),
  },
  {
    name: 'twelve-writers-at-most',
    wrong: 'A handle creates twelve sessions, and the thirteenth is locked until one is closed.',
    aimedAt: 'CONC-6',
    session: tracked(),
    persistence: (inner, medium) => {
      let creating = 0
      return {
        create: async (options) => {
          if (openSessions(medium).size + creating >= 12) throw new SessionError('LOCKED', 'too many writers')
          creating += 1
          try {
            return await inner.create(options)
          } finally {
            creating -= 1
          }
        },
      }
    },
  },
]
