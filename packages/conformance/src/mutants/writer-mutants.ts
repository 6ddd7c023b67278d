import {
  type ForkOptions,
  isSessionError,
  type Session,
  SessionError,
  type SessionSummary,
} from '@session-persistence/core'
import { type Mutant, type MutantMedium, overlay, shared } from './mutant.ts'

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

function hasPosition(options: ForkOptions): boolean {
  return options.at !== undefined || options.before !== undefined
}

/** The same fork of an empty prefix. */
function emptied({ at: _at, before: _before, ...rest }: ForkOptions): ForkOptions {
  return { ...rest, before: 0 }
}

export const WRITER_MUTANTS: readonly Mutant[] = [
  {
    name: 'fork-position-exclusive',
    wrong: '`before` takes one event more, `at` is right only at the end.',
    aimedAt: 'FORK-1',
    persistence: (inner) => ({
      fork: (id, options = {}) =>
        inner.fork(id, options.before === undefined || options.before <= 0 ? options : emptied(options)),
    }),
  },
  {
    name: 'default-fork-is-empty',
    wrong: 'A fork without a position shares nothing.',
    aimedAt: 'FORK-2',
    persistence: (inner) => ({
      fork: (id, options = {}) => inner.fork(id, hasPosition(options) ? options : emptied(options)),
    }),
  },
  {
    name: 'fork-moves-to-a-stable-position',
    wrong: 'A fork inside a turn is moved in silence.',
    aimedAt: 'FORK-3',
    persistence: (inner) => ({
      fork: async (id, options = {}) => {
        try {
          return await inner.fork(id, options)
        } catch (error) {
          if (!isSessionError(error, 'INVALID_ARGUMENT')) throw error
          return inner.fork(id, options.id === undefined ? {} : { id: options.id })
        }
      },
    }),
  },
  {
    name: 'child-forgets-its-parent',
    wrong: 'The header of a child does not name its parent.',
    aimedAt: 'FORK-4',
    view: (inner) => {
      const { parent: _, ...header } = inner.header
      return { header }
    },
  },
  {
    name: 'fork-closes-its-parent',
    wrong: 'A fork closes the open turn of its parent.',
    aimedAt: 'FORK-5',
    persistence: (inner) => ({
      fork: async (id, options) => {
        await inner.resume(id, { preserveUnknown: true }).then(
          (session) => session.close(),
          () => {},
        )
        return inner.fork(id, options)
      },
    }),
  },
  {
    name: 'children-die-with-their-parent',
    wrong: 'Deleting a session deletes its forks.',
    aimedAt: 'FORK-6',
    persistence: (inner) => ({
      delete: async (id) => {
        const deleted = await inner.delete(id)
        for (const child of (await inner.list({ filter: { parent: id } })).sessions) await inner.delete(child.id)
        return deleted
      },
    }),
  },
  {
    name: 'fork-misses-what-is-pending',
    wrong: 'A fork of an open session does not flush it first.',
    aimedAt: 'FORK-7',
    session: tracked(),
    persistence: (inner, medium) => ({
      fork: (id, options = {}) => {
        const pending = (openSessions(medium).get(id)?.pendingEvents().length ?? 0) > 0
        return inner.fork(id, pending && !hasPosition(options) ? emptied(options) : options)
      },
    }),
  },
  {
    name: 'fork-needs-the-lock',
    wrong: 'A session that somebody writes cannot be forked by others.',
    aimedAt: 'FORK-8',
    session: tracked(),
    persistence: (inner, medium) => {
      const own = new Set<string>()
      const mine = async (opening: Promise<Session>): Promise<Session> => {
        const session = await opening
        own.add(session.id)
        return session
      }
      return {
        create: (options) => mine(inner.create(options)),
        resume: (id, options) => mine(inner.resume(id, options)),
        fork: async (id, options) => {
          if (openSessions(medium).has(id) && !own.has(id)) throw new SessionError('LOCKED', 'held', { sessionId: id })
          return mine(inner.fork(id, options))
        },
      }
    },
  },
  {
    name: 'fork-replaces',
    wrong: 'A fork under a stored id replaces that session.',
    aimedAt: 'FORK-9',
    persistence: (inner) => ({
      fork: async (id, options = {}) => {
        try {
          return await inner.fork(id, options)
        } catch (error) {
          if (!isSessionError(error, 'ALREADY_EXISTS') || options.id === undefined) throw error
          await inner.delete(options.id)
          return inner.fork(id, options)
        }
      },
    }),
  },
  {
    name: 'fork-stored-when-closed',
    wrong: 'A fork cannot be read before it is closed.',
    aimedAt: 'FORK-10',
    session: (inner, medium, how) => {
      const unborn = shared(medium, 'unborn', () => new Set<string>())
      if (how !== 'fork') return {}
      unborn.add(inner.id)
      return {
        close: async () => {
          await inner.close()
          unborn.delete(inner.id)
        },
      }
    },
    persistence: (inner, medium) => ({
      read: (id, options) => {
        const unborn = shared(medium, 'unborn', () => new Set<string>())
        if (unborn.has(id)) throw new SessionError('NOT_FOUND', 'not yet', { sessionId: id })
        return inner.read(id, options)
      },
    }),
  },
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
  {
    name: 'child-seed-changed',
    wrong: 'The prefix of a child has other times than its parent’s.',
    aimedAt: 'RECOVER-9',
    persistence: (inner, medium) => {
      const children = shared(medium, 'children', () => new Set<string>())
      return {
        fork: async (id, options) => {
          const child = await inner.fork(id, options)
          children.add(child.id)
          return overlay(child, {})
        },
        read: async function* (id, options) {
          for await (const event of inner.read(id, options)) {
            yield children.has(id) && event.type === 'turn/start' ? { ...event, time: 1 } : event
          }
        },
      }
    },
  },
]
