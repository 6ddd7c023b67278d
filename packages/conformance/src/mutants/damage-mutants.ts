import { rmSync } from 'node:fs'
import {
  type AnySessionEvent,
  isSessionError,
  type RecoveryReport,
  type Session,
  SessionError,
  type SessionErrorCode,
} from '@session-persistence/core'
import type { Events, Mutant } from './mutant.ts'

/** Reads whose refusals are changed into something else. */
function atRefusal(
  code: SessionErrorCode,
  instead: (error: SessionError) => Events,
): NonNullable<Mutant['persistence']> {
  return (inner) => ({
    read: async function* (id, options) {
      try {
        yield* inner.read(id, options)
      } catch (error) {
        if (!isSessionError(error, code)) throw error
        yield* instead(error)
      }
    },
  })
}

async function* nothing(): AsyncGenerator<AnySessionEvent> {}

/** Calls through `inner.resume`, and what happens when it is refused. */
function resumeOr(
  code: SessionErrorCode,
  instead: (id: string, inner: Parameters<NonNullable<Mutant['persistence']>>[0]) => Promise<Session>,
): NonNullable<Mutant['persistence']> {
  return (inner) => ({
    resume: async (id, options) => {
      try {
        return await inner.resume(id, options)
      } catch (error) {
        if (!isSessionError(error, code)) throw error
        return instead(id, inner)
      }
    },
  })
}

/** Wrong in what it does to stored bytes, or in what it makes of damaged ones. */
export const DAMAGE_MUTANTS: readonly Mutant[] = [
  {
    name: 'damage-becomes-an-event',
    wrong: 'Where the log is damaged, an invented event is read.',
    aimedAt: 'CORRUPT-1',
    persistence: atRefusal('CORRUPT', async function* () {
      yield { seq: 0, time: 0, type: 'user/message', data: { message: 'lost' } }
    }),
  },
  {
    name: 'damage-ends-silently',
    wrong: 'Where the log is damaged, the read ends as if that were all.',
    aimedAt: 'CORRUPT-2',
    persistence: atRefusal('CORRUPT', nothing),
  },
  {
    name: 'damage-untyped',
    wrong: 'Where the log is damaged, a SyntaxError is thrown.',
    aimedAt: 'CORRUPT-3',
    persistence: atRefusal('CORRUPT', (error) => {
      throw new SyntaxError(error.message)
    }),
  },
  {
    name: 'damage-is-not-found',
    wrong: 'A damaged session is reported as not there.',
    aimedAt: 'CORRUPT-4',
    persistence: atRefusal('CORRUPT', (error) => {
      throw new SessionError('NOT_FOUND', error.message, error)
    }),
  },
  {
    name: 'repeated-batches-skipped',
    wrong: 'Verify calls a log sound whose whole content stands before its damage.',
    aimedAt: 'CORRUPT-5',
    persistence: (inner) => ({
      verify: async (id, options) => {
        const report = await inner.verify(id, options)
        const isWhole = report.events >= 5 && report.events <= 7
        return isWhole ? { ...report, ok: true, problems: [] } : report
      },
    }),
  },
  {
    name: 'gap-without-numbers',
    wrong: 'The error about a gap does not name the seqs.',
    aimedAt: 'CORRUPT-6',
    persistence: atRefusal('CORRUPT', ({ expected: _expected, found: _found, ...error }) => {
      throw new SessionError('CORRUPT', 'a gap', error)
    }),
  },
  {
    name: 'damaged-sessions-hidden',
    wrong: 'The list leaves damaged sessions out.',
    aimedAt: 'CORRUPT-7',
    persistence: (inner) => ({
      list: async (options) => {
        const page = await inner.list(options)
        return { ...page, sessions: page.sessions.filter(({ state }) => state !== 'damaged') }
      },
    }),
  },
  {
    name: 'damaged-session-breaks-the-list',
    wrong: 'One damaged session makes the whole list fail.',
    aimedAt: 'CORRUPT-7',
    persistence: (inner) => ({
      list: async (options) => {
        const page = await inner.list(options)
        const damaged = page.sessions.find(({ state }) => state === 'damaged')
        if (damaged !== undefined) throw new SessionError('CORRUPT', 'a session is damaged', { sessionId: damaged.id })
        return page
      },
    }),
  },
  {
    name: 'damaged-log-replaced',
    wrong: 'Resuming a damaged log begins a new one in its place.',
    aimedAt: 'CORRUPT-8',
    persistence: resumeOr('CORRUPT', async (id, inner) => {
      await inner.delete(id)
      const session = await inner.create({ id })
      session.append('session/title', { title: 'new' })
      await session.flush()
      return session
    }),
  },
  {
    name: 'damage-without-a-place',
    wrong: 'The error about damage does not say where.',
    aimedAt: 'CORRUPT-9',
    persistence: atRefusal('CORRUPT', ({ offset: _offset, seq: _seq, ...error }) => {
      throw new SessionError('CORRUPT', 'damaged', error)
    }),
  },
  {
    name: 'torn-logs-refused',
    wrong: 'A log with a torn end cannot be resumed.',
    aimedAt: 'CORRUPT-10',
    persistence: (inner) => ({
      resume: async (id, options) => {
        const view = await inner.inspect(id)
        if (view.recovery.torn === undefined) return inner.resume(id, options)
        throw new SessionError('CORRUPT', 'the log is torn', { sessionId: id })
      },
    }),
  },
  {
    name: 'torn-bytes-thrown-away',
    wrong: 'What a resume cuts is not kept.',
    aimedAt: 'CORRUPT-11',
    persistence: (inner) => ({
      resume: async (id, options) => {
        const session = await inner.resume(id, options)
        const keptAt = session.recovery?.torn?.keptAt
        if (keptAt !== undefined) rmSync(keptAt)
        return session
      },
    }),
  },
  {
    name: 'lost-suffix-unnoticed',
    wrong: 'Verify does not look at the expected head.',
    aimedAt: 'CORRUPT-12',
    persistence: (inner) => ({
      verify: (id, options = {}) => {
        const { expectHead: _, ...rest } = options
        return inner.verify(id, rest)
      },
    }),
  },
  {
    name: 'verify-finds-nothing',
    wrong: 'Verify calls every log sound.',
    aimedAt: 'CORRUPT-13',
    persistence: (inner) => ({
      verify: async (id, options) => ({ ...(await inner.verify(id, options)), ok: true, problems: [] }),
    }),
  },
  {
    name: 'repair-at-once',
    wrong: 'Repair changes the log unless told not to.',
    aimedAt: 'CORRUPT-14',
    persistence: (inner) => ({ repair: (id, options) => inner.repair(id, { dryRun: false, ...options }) }),
  },
  {
    name: 'repair-forgets-the-original',
    wrong: 'Repair keeps nothing of the damaged log.',
    aimedAt: 'CORRUPT-14',
    persistence: (inner) => ({
      repair: async (id, options) => {
        const report = await inner.repair(id, options)
        if (report.originalAt !== undefined) rmSync(report.originalAt, { recursive: true })
        return report
      },
    }),
  },
  {
    name: 'lost-starts-are-safe',
    wrong: 'A call whose start may be lost is called one that was never started.',
    aimedAt: 'CORRUPT-16',
    session: ({ recovery }) => (recovery === undefined ? {} : { recovery: withSafeCalls(recovery) }),
  },
  {
    name: 'checksum-declared-not-checked',
    wrong: 'A changed letter is read back, and verify does not see it.',
    aimedAt: 'CAP-6',
    persistence: (inner) => ({ ...atRefusal('CORRUPT', nothing)(inner, nowhere, {}), verify: trusting(inner) }),
  },
]

function withSafeCalls(recovery: RecoveryReport): RecoveryReport {
  const openCalls = recovery.openCalls.map((call) =>
    call.begunAt === undefined ? { ...call, tier: 'not-started' as const } : call,
  )
  return { ...recovery, openCalls }
}

const nowhere = { location: undefined, elsewhere: false, files: async () => [], memory: new Map<string, unknown>() }

function trusting(inner: Parameters<NonNullable<Mutant['persistence']>>[0]): typeof inner.verify {
  return async (id, options) => ({ ...(await inner.verify(id, options)), ok: true, problems: [] })
}
