import { readdirSync, readFileSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type EventInput, SessionError } from '@session-persistence/core'
import type { Mutant } from './mutant.ts'

/** Says so and never settles: the process is killed here, and nowhere else. */
function stall(): Promise<never> {
  writeSync(1, `${JSON.stringify({ kind: 'stalled' })}\n`)
  return new Promise<never>(() => {
    setInterval(() => {}, 60_000)
  })
}

/** Cuts the log of a session to half its size, as one that is being rewritten in place looks for a while. */
function halve(location: string | undefined, id: string): void {
  const path = join(location ?? '', id, 'session.jsonl')
  truncateSync(path, Math.floor(statSync(path).size / 2))
}

/** True while a living process other than this one holds a lock of the store. */
function lockedElsewhere(location: string | undefined): boolean {
  const locks = join(location ?? '', '.locks')
  return readdirSync(locks, { withFileTypes: true }).some((entry) => {
    const pid = Number(/"pid":(\d+)/.exec(readFileSync(join(locks, entry.name), 'utf8'))?.[1] ?? process.pid)
    return pid !== process.pid && isAlive(pid)
  })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Wrong in what a process leaves that dies inside one operation, or in what several processes do to each other. */
export const CRASH_INSIDE_MUTANTS: readonly Mutant[] = [
  {
    name: 'recovery-in-place',
    wrong: 'Recovery rewrites the log in place.',
    aimedAt: 'CRASH-9',
    persistence: (inner, medium) => ({
      resume: async (id, options) => {
        if (!medium.elsewhere || (await inner.inspect(id)).openCalls().length < 4) return inner.resume(id, options)
        halve(medium.location, id)
        return stall()
      },
    }),
  },
  {
    name: 'fork-event-by-event',
    wrong: 'A fork is visible while it is copied.',
    aimedAt: 'CRASH-10',
    persistence: (inner, medium) => ({
      fork: async (id, options) => {
        if (!medium.elsewhere) return inner.fork(id, options)
        const child = await inner.create(options?.id === undefined ? {} : { id: options.id })
        child.append('user/message', { message: 'the first of many' })
        await child.flush()
        return stall()
      },
    }),
  },
  {
    name: 'delete-in-pieces',
    wrong: 'Delete empties the log before it removes the session.',
    aimedAt: 'CRASH-11',
    persistence: (inner, medium) => ({
      delete: async (id) => {
        if (!medium.elsewhere) return inner.delete(id)
        halve(medium.location, id)
        return stall()
      },
    }),
  },
  {
    name: 'batches-in-pieces',
    wrong: 'A large batch is written in two.',
    aimedAt: 'CRASH-13',
    session: (inner, medium) => {
      let held: readonly EventInput[] = []
      return {
        appendAll: (events) => {
          if (!medium.elsewhere || events.length < 100) return inner.appendAll(events)
          held = events.slice(events.length / 2)
          return inner.appendAll(events.slice(0, events.length / 2))
        },
        flush: async () => {
          const receipt = await inner.flush()
          return held.length === 0 ? receipt : stall()
        },
      }
    },
  },
  {
    name: 'close-in-place',
    wrong: 'Close merges batches by rewriting the log in place.',
    aimedAt: 'CRASH-14',
    session: (inner, medium, how) =>
      medium.elsewhere && how === 'create'
        ? {
            close: async () => {
              await inner.flush()
              halve(medium.location, inner.id)
              return stall()
            },
          }
        : {},
  },
  {
    name: 'annotate-recovers',
    wrong: 'Annotate resumes the session, and so ends its open turn.',
    aimedAt: 'CRASH-15',
    persistence: (inner, medium) => ({
      annotate: async (id, annotation) => {
        if (medium.elsewhere) await (await inner.resume(id)).close()
        return inner.annotate(id, annotation)
      },
    }),
  },
  {
    name: 'close-elsewhere-abandons',
    wrong: 'In a second process, closing a resumed session drops what it had not flushed.',
    aimedAt: 'CONC-11',
    session: (inner, medium, how) =>
      medium.elsewhere && how === 'resume'
        ? {
            close: async () => {
              await inner.abandon()
            },
          }
        : {},
  },
  {
    name: 'one-writer-a-store',
    wrong: 'While one process writes a session, no other process can create one.',
    aimedAt: 'CONC-13',
    persistence: (inner, medium) => ({
      create: async (options) => {
        const session = await inner.create(options)
        if (!medium.elsewhere || !lockedElsewhere(medium.location)) return session
        await session.abandon()
        throw new SessionError('LOCKED', 'another process writes here')
      },
    }),
  },
]
