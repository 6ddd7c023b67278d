/** One changed database on every entry point, now and then beside a changed log: refused, or what was stored. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '@session-persistence/conformance/crash-states'
import { isSessionError } from '@session-persistence/core'
import { sqliteStorage } from '@session-persistence/sqlite'
import { databaseVerdict, layDown } from '../damage/damaged-database.ts'
import type { LoggedDatabase } from '../damage/small-database.ts'
import { mutate } from './mutate.ts'
import { mutateDatabase } from './mutate-database.ts'

/** What a rollback journal begins with; one beside a database makes SQLite look at it. */
const JOURNAL_MAGIC = Buffer.from('d9d505f920a163d7', 'hex')

/** One in so many changed databases also meets the entry points that write. */
const ENTER_EVERY = 10

export class DatabaseFuzzer {
  readonly #file: string
  readonly #sample: LoggedDatabase
  #runs = 0

  /** `directory`: where the databases are laid down. */
  constructor(directory: string, sample: LoggedDatabase) {
    this.#file = join(directory, 'fuzzed.db')
    this.#sample = sample
  }

  /** Undefined when all is well, else what is wrong. */
  async next(random: Random): Promise<string | undefined> {
    const { database, log, session } = this.#sample
    const kind = random.below(8)
    const changed = kind === 0 ? database : mutateDatabase(database, random)
    layDown(this.#file, changed, kind < 3 ? mutate(log, random) : undefined)
    if (kind === 3) writeFileSync(`${this.#file}-journal`, Buffer.concat([JOURNAL_MAGIC, random.bytes(1024)]))
    const verdict = await databaseVerdict(this.#file, [session])
    if (verdict.kind === 'violation') return verdict.problem
    return this.#runs++ % ENTER_EVERY === 0 ? await enter(this.#file, session.id) : undefined
  }
}

async function enter(file: string, id: string): Promise<string | undefined> {
  const storage = sqliteStorage({ file, busyMs: 0 })
  const steps: readonly (() => Promise<unknown>)[] = [
    () => storage.check(id),
    async () => storage.repair?.(id, { dryRun: true }),
    async () => {
      const writer = await storage.openWriter(id, { kind: 'resume' })
      try {
        await writer.settle()
      } finally {
        await writer.close()
      }
    },
    async () => storage.repair?.(id, { dryRun: false }),
  ]
  try {
    for (const step of steps) {
      try {
        await step()
      } catch (error) {
        if (!isSessionError(error)) return `an error without a type: ${String(error)}`
      }
    }
    return undefined
  } finally {
    await storage.close()
  }
}
