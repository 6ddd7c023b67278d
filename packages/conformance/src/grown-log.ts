import { appendFileSync, readFileSync, statSync } from 'node:fs'
import type { AnySessionEvent, Session, SessionPersistence } from '@session-persistence/core'
import type { CaseContext } from './conformance-case.ts'
import { regularFiles } from './medium-files.ts'
import { appendEach } from './stored-events.ts'
import { turnEvents } from './workload.ts'

/** The file that holds a session's log, found by watching which one grows. */
export interface LogFile {
  readonly path: string
  append(text: string): Promise<void>
  /** In bytes. */
  size(): number
}

/** Where each batch of a stored log lies in its file. */
export interface GrownLog {
  readonly session: Session
  readonly path: LogFile
  /** Events stored so far. */
  readonly events: readonly AnySessionEvent[]
}

/** A session with one turn stored and its writer still open. Skips where no file grows by appending. */
export async function growStoredLog(
  context: CaseContext,
  persistence: SessionPersistence,
  id: string,
): Promise<GrownLog> {
  const session = await persistence.create({ id })
  const half = turnEvents(1).length / 2
  const events = [...appendEach(session, turnEvents(1).slice(0, half))]
  await session.flush()
  const before = await contents(context)
  events.push(...appendEach(session, turnEvents(1).slice(half)))
  await session.flush()
  const path = await fileThatGrew(context, before)
  const file: LogFile = { path, append: async (text) => appendFileSync(path, text), size: () => statSync(path).size }
  return { session, path: file, events }
}

/** One stored, closed log with the offsets between which each of its batches lies. */
export interface MappedLog {
  readonly path: string
  /** Batch `n` is in the bytes from `ends[n - 1]` (0 before the first; the header lies in it) to `ends[n]`. */
  readonly ends: readonly number[]
  readonly batches: readonly (readonly AnySessionEvent[])[]
  readonly events: readonly AnySessionEvent[]
}

/** Stores one event list a batch and notes how far the file reached after each. */
export async function mapStoredLog(
  context: CaseContext,
  persistence: SessionPersistence,
  id: string,
  batches: readonly (readonly Parameters<typeof appendEach>[1][number][])[],
): Promise<MappedLog> {
  const session = await persistence.create({ id })
  const stored: (readonly AnySessionEvent[])[] = []
  const sizes: Map<string, number>[] = []
  let before = await contents(context)
  let path: string | undefined
  for (const [index, batch] of batches.entries()) {
    stored.push(appendEach(session, batch))
    await session.flush()
    if (index > 0) path = await fileThatGrew(context, before)
    before = await contents(context)
    sizes.push(new Map([...before].map(([file, bytes]) => [file, bytes.length])))
  }
  await session.close()
  if (path === undefined) context.skip('a log of one batch has no file that grows')
  const ends = sizes.map((bySize) => bySize.get(path) ?? 0)
  if (statSync(path).size !== ends.at(-1)) context.skip('closing changed the file of the log')
  return { path, ends, batches: stored, events: stored.flat() }
}

async function contents(context: CaseContext): Promise<ReadonlyMap<string, Buffer>> {
  const paths = await regularFiles(context.medium)
  return new Map(paths.map((path) => [path, readFileSync(path)]))
}

async function fileThatGrew(context: CaseContext, before: ReadonlyMap<string, Buffer>): Promise<string> {
  for (const [path, bytes] of await contents(context)) {
    const earlier = before.get(path)
    if (earlier === undefined || earlier.length === 0 || bytes.length <= earlier.length) continue
    if (bytes.subarray(0, earlier.length).equals(earlier)) return path
  }
  return context.skip('no file of this medium grows by appending')
}
