/** Files that somebody made to cost time, memory or another file, in the place of a session that is stored. */
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openReal, type RealBackend } from '../real/real-backend.ts'
import { taskBatches, type WriterTask } from '../real/writer-task.ts'
import { sampleHeader } from '../scenario/sample-events.ts'
import { sessionsIn } from '../scenario/sessions-directory.ts'

export interface HostileFile {
  readonly name: string
  readonly backend: RealBackend
  /** Nothing guards what is in it: it may be read. */
  readonly unguarded?: boolean
  /** Changes what is stored: `path` is the log or the database, `root` what is above it. */
  plant(place: HostilePlace): Promise<void> | void
}

export interface HostilePlace {
  readonly root: string
  readonly path: string
}

/** The session that stands there before. */
export const HOSTILE_TASK: Pick<WriterTask, 'id' | 'seed' | 'batches' | 'bytes'> = {
  id: 'session',
  seed: 7,
  batches: 4,
  bytes: 60,
}

const LOGS: Readonly<Record<RealBackend, string>> = {
  jsonl: 'session/session.jsonl',
  'jsonl-zstd': 'session/session.jsonl.zst',
  sqlite: 'sessions.db',
}

/** Stores a session below `directory`, and plants a hostile file in its place. */
export async function plantHostile({ backend, plant }: HostileFile, directory: string): Promise<void> {
  const storage = openReal(backend, directory)
  const writer = await storage.openWriter(HOSTILE_TASK.id, { kind: 'create', header: sampleHeader(HOSTILE_TASK.id) })
  for (const batch of taskBatches(HOSTILE_TASK)) await writer.append(batch)
  await writer.close()
  await storage.close()
  const root = sessionsIn(directory)
  const path = join(root, LOGS[backend])
  if (!existsSync(path)) throw new Error(`no log at ${path} in ${dirname(path)}`)
  await plant({ root, path })
}

/** Instead of what is there. */
export function instead(bytes: Buffer | string): HostileFile['plant'] {
  return ({ path }) => writeFileSync(path, bytes)
}

/** Behind what is there. */
export function behind(bytes: Buffer | string): HostileFile['plant'] {
  return ({ path }) => writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from(bytes)]))
}

/** `bytes`, and zeros behind them up to a size that no disk needs to hold. */
export function sparse(size: number, bytes?: Buffer | string): HostileFile['plant'] {
  return ({ path }) => {
    if (bytes !== undefined) writeFileSync(path, bytes)
    truncateSync(path, size)
  }
}
