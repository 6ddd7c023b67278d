import { appendFileSync, lstatSync, readFileSync, statSync } from 'node:fs'
import type { AnySessionEvent, EventInput, Session, SessionPersistence } from '@session-persistence/core'
import type { CaseContext } from './conformance-case.ts'
import { regularFiles } from './medium-files.ts'
import { appendEach } from './stored-events.ts'
import { turnEvents } from './workload.ts'

/** The file that holds a session's log, found by watching which one changes. */
export interface LogFile {
  readonly path: string
  append(text: string): Promise<void>
  /** In bytes. */
  size(): number
}

/** A session whose writer is open, and its file. */
export interface GrownLog {
  readonly session: Session
  readonly path: LogFile
  /** Events stored so far. */
  readonly events: readonly AnySessionEvent[]
}

/** A session with one turn stored and its writer still open. Skips where no file of it can be seen. */
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
  const path = changedFile(before, await contents(context))?.path
  if (path === undefined) return context.skip('no file of this medium changes while a writer is open')
  const file: LogFile = { path, append: async (text) => appendFileSync(path, text), size: () => statSync(path).size }
  return { session, path: file, events }
}

/** One stored, closed log and the file that it lies in, whatever its layout. */
export interface LocatedLog {
  readonly path: string
  readonly events: readonly AnySessionEvent[]
}

/**
 * Stores one event list a batch and finds the file. Skips where that holds other sessions as well: damaging it would
 * damage them all.
 */
export async function locateStoredLog(
  context: CaseContext,
  persistence: SessionPersistence,
  id: string,
  batches: readonly (readonly EventInput[])[],
): Promise<LocatedLog> {
  const atFirst = await contents(context)
  const session = await persistence.create({ id })
  const events: AnySessionEvent[] = []
  let path: string | undefined
  for (const batch of batches) {
    const before = await contents(context)
    events.push(...appendEach(session, batch))
    await session.flush()
    path = changedFile(before, await contents(context))?.path ?? path
  }
  await session.close()
  if (path === undefined || lstatSync(path, { throwIfNoEntry: false }) === undefined || atFirst.has(path)) {
    return context.skip('no file of this medium is of one session alone')
  }
  return { path, events }
}

/** One stored, closed log with the offsets between which each of its batches lies. */
export interface MappedLog extends LocatedLog {
  /** Batch `n` is in the bytes from `ends[n - 1]` (0 before the first; the header lies in it) to `ends[n]`. */
  readonly ends: readonly number[]
  readonly batches: readonly (readonly AnySessionEvent[])[]
}

/** Stores one event list a batch and notes how far the file reached after each. Skips where no file grows by that. */
export async function mapStoredLog(
  context: CaseContext,
  persistence: SessionPersistence,
  id: string,
  batches: readonly (readonly EventInput[])[],
): Promise<MappedLog> {
  const session = await persistence.create({ id })
  const stored: (readonly AnySessionEvent[])[] = []
  const sizes: Map<string, number>[] = []
  let before = await contents(context)
  let path: string | undefined
  for (const [index, batch] of batches.entries()) {
    stored.push(appendEach(session, batch))
    await session.flush()
    const after = await contents(context)
    const changed = changedFile(before, after)
    if (index > 0) path = changed?.grew === true ? changed.path : context.skip('no file grows by appending')
    before = after
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

/** The file that grew by appending; else the largest of those that are there before and after with other contents. */
function changedFile(
  before: ReadonlyMap<string, Buffer>,
  after: ReadonlyMap<string, Buffer>,
): { readonly path: string; readonly grew: boolean } | undefined {
  const changed: { readonly path: string; readonly grew: boolean; readonly size: number }[] = []
  for (const [path, bytes] of after) {
    const earlier = before.get(path)
    if (earlier === undefined || earlier.length === 0 || bytes.equals(earlier)) continue
    const grew = bytes.length > earlier.length && bytes.subarray(0, earlier.length).equals(earlier)
    changed.push({ path, grew, size: bytes.length })
  }
  return changed.find(({ grew }) => grew) ?? changed.sort((a, b) => b.size - a.size)[0]
}
