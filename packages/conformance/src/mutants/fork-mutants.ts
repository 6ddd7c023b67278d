import { type ForkOptions, isSessionError, type Session, SessionError } from '@session-persistence/core'
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
  return options.at !== undefined || options.before !== undefined || options.turn !== undefined
}

/** The same fork of an empty prefix. */
function emptied({ at: _at, before: _before, turn: _turn, ...rest }: ForkOptions): ForkOptions {
  return { ...rest, before: 0 }
}

export const FORK_MUTANTS: readonly Mutant[] = [
  {
    name: 'fork-turns-count-from-zero',
    wrong: '`turn` of a fork counts from zero: the child has a turn more than was asked for.',
    aimedAt: 'FORK-11',
    persistence: (inner) => ({
      fork: (id, options = {}) =>
        options.turn === undefined || options.turn < 1
          ? inner.fork(id, options)
          : inner.fork(id, { ...options, turn: options.turn + 1 }).catch(() => inner.fork(id, options)),
    }),
  },
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
