import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isSessionError, SessionError, type SessionSummary } from '@session-persistence/core'
import { changedReads, type Mutant, overlay, shared } from './mutant.ts'

/** Lock files of a store that keeps them in `.locks`; none where it does not. */
function lockFiles(location: string | undefined): readonly string[] {
  if (location === undefined) return []
  try {
    const locks = join(location, '.locks')
    return readdirSync(locks).map((name) => join(locks, name))
  } catch {
    return []
  }
}

/** What a lock file says; nothing when its holder has released it meanwhile. */
function ownerIn(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Wrong in what survives a killed process, or between two of them. */
export const PROCESS_MUTANTS: readonly Mutant[] = [
  {
    name: 'acknowledges-before-writing',
    wrong: 'Flush resolves before anything is written.',
    aimedAt: 'CRASH-1',
    session: (inner, medium) =>
      medium.elsewhere
        ? {
            flush: async () => ({ seq: inner.nextSeq - 1, crc: '00000000' }),
            get durableSeq(): number {
              return inner.nextSeq
            },
          }
        : {},
  },
  {
    name: 'other-process-reads-less',
    wrong: 'A second process does not see the last event.',
    aimedAt: 'CRASH-2',
    ...changedReads(async function* (events, _id, _options, medium) {
      let held: { readonly seq: number } | undefined
      for await (const event of events) {
        if (held !== undefined) yield held as typeof event
        held = event
        if (!medium.elsewhere) {
          yield event
          held = undefined
        }
      }
    }),
  },
  {
    name: 'crashed-turns-stay-open',
    wrong: 'A resume after a crash leaves the turn open.',
    aimedAt: 'CRASH-3',
    persistence: (inner) => ({ resume: (id, options) => inner.resume(id, { ...options, openTurn: 'keep' }) }),
  },
  {
    name: 'call-begun-without-a-record',
    wrong: 'beginCall records nothing.',
    aimedAt: 'CRASH-4',
    session: (inner) => ({ beginCall: () => inner.flush() }),
  },
  {
    name: 'reason-lost-after-a-crash',
    wrong: 'What recovery adds says that the turn was completed.',
    aimedAt: 'CRASH-5',
    persistence: (inner) => ({
      resume: async (id, options) => {
        const session = await inner.resume(id, options)
        const { recovery } = session
        if (recovery === undefined) return session
        const closed = recovery.closed.map((event) =>
          event.type === 'turn/end' ? { ...event, data: { turn: 1, reason: { kind: 'completed' } } } : event,
        )
        return overlay(session, { recovery: { ...recovery, closed } })
      },
    }),
  },
  {
    name: 'child-of-a-restored-log-differs',
    wrong: 'The prefix of a child has other times than its parent’s.',
    aimedAt: 'CRASH-6',
    persistence: (inner, medium) => {
      const children = shared(medium, 'children', () => new Set<string>())
      return {
        fork: async (id, options) => {
          const child = await inner.fork(id, options)
          children.add(child.id)
          return child
        },
        read: async function* (id, options) {
          for await (const event of inner.read(id, options)) {
            yield children.has(id) && event.type === 'turn/start' ? { ...event, time: 1 } : event
          }
        },
      }
    },
  },
  {
    name: 'left-over-locks-are-sessions',
    wrong: 'What a killed process left behind is listed as a damaged session.',
    aimedAt: 'CRASH-7',
    persistence: (inner, medium) => ({
      list: async (options) => {
        const page = await inner.list(options)
        const known = new Set(page.sessions.map(({ id }) => id))
        const names = lockFiles(medium.location).map((path) => path.slice(path.lastIndexOf('/') + 1))
        const extra = names
          .filter((id) => !known.has(id))
          .map((id): SessionSummary => ({ id, state: 'damaged', bytes: 0 }))
        return { ...page, sessions: [...page.sessions, ...extra] }
      },
    }),
  },
  {
    name: 'every-head-refused',
    wrong: 'Verify accepts no expected head.',
    aimedAt: 'CRASH-8',
    persistence: (inner) => ({
      verify: (id, options = {}) => {
        const { expectHead } = options
        if (expectHead === undefined) return inner.verify(id, options)
        return inner.verify(id, { ...options, expectHead: { ...expectHead, crc: 'ffffffff' } })
      },
    }),
  },
  {
    name: 'lock-of-others-removed',
    wrong: 'A resume that finds a lock removes it.',
    aimedAt: 'CONC-7',
    persistence: (inner, medium) => ({
      resume: async (id, options) => {
        try {
          return await inner.resume(id, options)
        } catch (error) {
          if (!isSessionError(error, 'LOCKED')) throw error
          for (const path of lockFiles(medium.location)) rmSync(path, { force: true })
          return inner.resume(id, options)
        }
      },
    }),
  },
  {
    name: 'stale-lock-honoured',
    wrong: 'A lock file counts as a lock whether or not its holder lives.',
    aimedAt: 'CONC-8',
    persistence: (inner, medium) => ({
      resume: (id, options) => {
        const own = `"pid":${process.pid},`
        const owners = lockFiles(medium.location).map(ownerIn)
        const foreign = owners.find((owner) => owner !== '' && !owner.includes(own))
        if (foreign !== undefined) throw new SessionError('LOCKED', foreign, { sessionId: id })
        return inner.resume(id, options)
      },
    }),
  },
  {
    name: 'everybody-repairs',
    wrong: 'A process that finds a crashed session locked says that it resumed it.',
    aimedAt: 'CONC-9',
    persistence: (inner, medium) => ({
      resume: async (id, options) => {
        try {
          return await inner.resume(id, options)
        } catch (error) {
          if (!medium.elsewhere) throw error
          return inner.create()
        }
      },
    }),
  },
  {
    name: 'follow-sees-its-own-process',
    wrong: 'Follow ends where no writer of its own process is.',
    aimedAt: 'CAP-5',
    persistence: (inner) => ({ follow: (id, options) => inner.read(id, options) }),
  },
]
