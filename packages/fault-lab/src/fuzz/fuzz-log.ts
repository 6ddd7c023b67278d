/** One changed log, on every entry point: it is refused, or reads as what was stored. */
import { type AnySessionEvent, isSessionError } from '@session-persistence/core'
import type { FileBackend } from '../scenario/file-backend.ts'
import { readDamaged } from '../scenario/read-damaged.ts'
import { SINGLE_ID, SingleLog } from '../scenario/single-log.ts'

/** One in so many changed logs also meets the entry points that write. */
const ENTER_EVERY = 20

export class LogFuzzer {
  readonly #backend: FileBackend
  readonly #reading: SingleLog
  #runs = 0

  constructor(backend: FileBackend) {
    this.#backend = backend
    this.#reading = new SingleLog(backend)
  }

  /** Undefined when all is well, else what is wrong. */
  async try(log: Buffer, stored: readonly AnySessionEvent[]): Promise<string | undefined> {
    this.#reading.set(log)
    const verdict = await readDamaged(this.#reading.storage, SINGLE_ID, stored)
    if (verdict.kind === 'violation') return verdict.problem
    return this.#runs++ % ENTER_EVERY === 0 ? await enter(this.#backend, log) : undefined
  }

  /** The same where nothing guards the content: whatever it is, it is read, or refused with a type. */
  async tryUnguarded(log: Buffer): Promise<string | undefined> {
    this.#reading.set(log)
    const verdict = await readDamaged(this.#reading.storage, SINGLE_ID, [])
    return verdict.kind === 'violation' && !verdict.problem.startsWith('event ') ? verdict.problem : undefined
  }
}

async function enter(backend: FileBackend, log: Buffer): Promise<string | undefined> {
  const { storage } = new SingleLog(backend, log)
  const steps: readonly (() => Promise<unknown>)[] = [
    () => storage.list({ limit: 10 }),
    () => storage.check(SINGLE_ID),
    async () => storage.repair?.(SINGLE_ID, { dryRun: true }),
    async () => {
      const writer = await storage.openWriter(SINGLE_ID, { kind: 'resume' })
      try {
        if (writer.tail.torn !== undefined) await writer.discardTornTail()
        await writer.settle()
      } finally {
        await writer.close()
      }
    },
    async () => storage.repair?.(SINGLE_ID, { dryRun: false }),
  ]
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      if (!isSessionError(error)) return `an error without a type: ${String(error)}`
    }
  }
  return undefined
}
