import { isSessionError, type Session, SessionError } from '@session-persistence/core'
import { type Mutant, type MutantMedium, shared } from './mutant.ts'

function unflushed(medium: MutantMedium): Set<string> {
  return shared(medium, 'unflushed', () => new Set<string>())
}

/** A session that forgets, as soon as it stores or ends, that its id was created and not flushed. */
function storedAfter(inner: Session, medium: MutantMedium): Partial<Session> {
  const settled = <T>(call: () => Promise<T>) => {
    return async (): Promise<T> => {
      unflushed(medium).delete(inner.id)
      return call()
    }
  }
  return {
    flush: settled(() => inner.flush()),
    close: settled(() => inner.close()),
    abandon: settled(() => inner.abandon()),
  }
}

/** Wrong in what they show of a session that is created and not yet flushed. */
export const UNFLUSHED_MUTANTS: readonly Mutant[] = [
  {
    name: 'unflushed-sessions-are-locked',
    wrong: 'A resume of a session that is created and not flushed says LOCKED.',
    aimedAt: 'LIFE-15',
    session: (inner, medium, how) => {
      if (how === 'create') unflushed(medium).add(inner.id)
      return storedAfter(inner, medium)
    },
    persistence: (inner, medium) => ({
      resume: async (id, options) => {
        try {
          return await inner.resume(id, options)
        } catch (error) {
          if (!isSessionError(error, 'NOT_FOUND') || !unflushed(medium).has(id)) throw error
          throw new SessionError('LOCKED', 'somebody has created it', { sessionId: id })
        }
      },
    }),
  },
  {
    name: 'delete-overlooks-the-unflushed',
    wrong: 'Delete says that nothing is there where a writer has created a session and not flushed it.',
    aimedAt: 'DELETE-7',
    session: (inner, medium, how) => {
      if (how === 'create') unflushed(medium).add(inner.id)
      return storedAfter(inner, medium)
    },
    persistence: (inner, medium) => ({
      delete: async (id) => (unflushed(medium).has(id) ? false : inner.delete(id)),
    }),
  },
]
