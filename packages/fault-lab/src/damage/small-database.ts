/**
 * A database in pages of 512 bytes: as many structures as a large one, in a file that is small enough to be damaged
 * everywhere. Alone; or with its last batches in the write-ahead log of a writer that was killed.
 */
import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { AnySessionEvent } from '@session-persistence/core'
import { sqliteStorage } from '@session-persistence/sqlite'
import { RawDatabase } from '../real/raw-database.ts'
import { taskBatches } from '../real/writer-task.ts'
import { sampleHeader } from '../scenario/sample-events.ts'

export interface StoredSession {
  readonly id: string
  readonly events: readonly AnySessionEvent[]
}

export interface SmallDatabase {
  readonly database: Buffer
  readonly sessions: readonly StoredSession[]
}

/** Makes one below `directory`. */
export async function smallDatabase(directory: string, seed: number): Promise<SmallDatabase> {
  const file = join(directory, 'small.db')
  const storage = sqliteStorage({ file })
  const sessions: StoredSession[] = []
  for (const [id, batches] of [
    ['session', 5],
    ['other', 2],
  ] as const) {
    const made = taskBatches({ seed, batches, bytes: 60 })
    const writer = await storage.openWriter(id, { kind: 'create', header: sampleHeader(id) })
    for (const batch of made) await writer.append(batch)
    await writer.saveDerived('summary', '{"a":1}')
    await writer.close()
    sessions.push({ id, events: made.flat() })
  }
  await storage.close()
  shrinkPages(file)
  return { database: readFileSync(file), sessions }
}

/** Puts a database into pages of the smallest size. Nobody has it open. */
function shrinkPages(file: string): void {
  const raw = new RawDatabase(file)
  raw.exec('PRAGMA journal_mode = delete')
  raw.exec('PRAGMA page_size = 512')
  raw.exec('VACUUM')
  // Back to the mode that the backend expects, so that opening it writes nothing.
  raw.exec('PRAGMA journal_mode = wal')
  raw.close()
}

export interface LoggedDatabase {
  readonly database: Buffer
  /** Its write-ahead log. */
  readonly log: Buffer
  readonly session: StoredSession
  /** Events in the database itself. */
  readonly moved: number
  /** Numbers of events after which a batch ends. */
  readonly ends: readonly number[]
}

/** Makes one below `directory`, with `logged` batches in its write-ahead log. */
export async function loggedDatabase(directory: string, seed: number, logged: number): Promise<LoggedDatabase> {
  const file = join(directory, 'logged.db')
  const id = 'session'
  const batches = taskBatches({ seed, batches: 2 + logged, bytes: 40 })
  const first = sqliteStorage({ file })
  const creator = await first.openWriter(id, { kind: 'create', header: sampleHeader(id) })
  for (const batch of batches.slice(0, 2)) await creator.append(batch)
  await creator.close()
  await first.close()
  shrinkPages(file)
  const database = readFileSync(file)
  const storage = sqliteStorage({ file })
  const writer = await storage.openWriter(id, { kind: 'resume' })
  for (const batch of batches.slice(2)) await writer.append(batch)
  // What a killed process leaves: the files as they are while it runs.
  copyFileSync(`${file}-wal`, `${file}-copy`)
  const log = readFileSync(`${file}-copy`)
  await writer.close()
  await storage.close()
  for (const suffix of ['', '-copy']) rmSync(`${file}${suffix}`)
  let end = 0
  const ends = batches.map((batch) => {
    end += batch.length
    return end
  })
  return { database, log, session: { id, events: batches.flat() }, moved: ends[1] ?? 0, ends: ends.slice(1) }
}
