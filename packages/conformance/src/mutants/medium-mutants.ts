import { chmodSync, utimesSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type AnySessionEvent, isSessionError, SessionError, type SessionErrorCode } from '@session-persistence/core'
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

/** Wrong in what it does to stored bytes, or in what it makes of damaged ones. */
export const MEDIUM_MUTANTS: readonly Mutant[] = [
  {
    name: 'failures-silent',
    wrong: 'onFailure is never called.',
    aimedAt: 'DURABLE-11',
    options: (options) => ({ ...options, onFailure: () => {} }),
  },
  {
    name: 'conflict-swallowed',
    wrong: 'A flush into a log that somebody changed resolves.',
    aimedAt: 'CONC-10',
    session: (inner) => ({
      flush: async () => {
        try {
          return await inner.flush()
        } catch (error) {
          if (!isSessionError(error, 'CONFLICT')) throw error
          return { seq: inner.nextSeq - 1, crc: '00000000' }
        }
      },
    }),
  },
  {
    name: 'reader-touches-files',
    wrong: 'Reading a session sets the modification time of its files.',
    aimedAt: 'READ-16',
    persistence: (inner, medium) => ({
      read: async function* (id, options) {
        for (const path of await medium.files()) if (path.includes(id)) utimesSync(path, 7, 7)
        yield* inner.read(id, options)
      },
    }),
  },
  {
    name: 'inspect-repairs-files',
    wrong: 'Inspecting a session closes its open turn on the medium.',
    aimedAt: 'RECOVER-13',
    persistence: (inner) => ({
      inspect: async (id, options) => {
        await inner.resume(id).then(
          (session) => session.close(),
          () => {},
        )
        return inner.inspect(id, options)
      },
    }),
  },
  {
    name: 'ids-are-paths',
    wrong: 'An id that climbs leaves a file outside the medium.',
    aimedAt: 'ID-4',
    persistence: (inner, medium) => ({
      create: async (options) => {
        if (medium.location !== undefined && options?.id === '../outside') {
          writeFileSync(resolve(medium.location, options.id), '')
        }
        return inner.create(options)
      },
    }),
  },
  {
    name: 'delete-leaves-a-file',
    wrong: 'A deleted session leaves a file behind.',
    aimedAt: 'DELETE-6',
    persistence: (inner, medium) => ({
      delete: async (id) => {
        const deleted = await inner.delete(id)
        if (medium.location !== undefined) writeFileSync(join(medium.location, '.deleted'), '', { mode: 0o600 })
        return deleted
      },
    }),
  },
  {
    name: 'newer-is-called-corrupt',
    wrong: 'A log of a newer format is inspected as a damaged one.',
    aimedAt: 'VERSION-2',
    persistence: (inner) => ({
      inspect: async (id, options) => {
        try {
          return await inner.inspect(id, options)
        } catch (error) {
          if (!isSessionError(error, 'UNSUPPORTED_VERSION')) throw error
          throw new SessionError('CORRUPT', error.message, error)
        }
      },
    }),
  },
  {
    name: 'files-readable-by-all',
    wrong: 'Everybody on the machine can read the log.',
    aimedAt: 'SEC-3',
    session: (inner, medium) => ({
      flush: async () => {
        const receipt = await inner.flush()
        for (const path of await medium.files()) chmodSync(path, 0o644)
        return receipt
      },
    }),
  },
  {
    name: 'linked-logs-look-empty',
    wrong: 'A log behind a link reads as an empty one.',
    aimedAt: 'SEC-4',
    persistence: atRefusal('PERMISSION_DENIED', nothing),
  },
  {
    name: 'stray-files-listed',
    wrong: 'A file that is no session is listed as a damaged one.',
    aimedAt: 'SEC-5',
    persistence: (inner, medium) => ({
      list: async (options) => {
        const page = await inner.list(options)
        const stray = (await medium.files()).filter((path) => path.endsWith('.txt'))
        return {
          ...page,
          sessions: [...page.sessions, ...stray.map((id) => ({ id, state: 'damaged', bytes: 0 }) as const)],
        }
      },
    }),
  },
]
