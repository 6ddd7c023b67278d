import { lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { AnySessionEvent, EventInput, SessionPersistence } from '@session-persistence/core'
import { changedFile, contents } from './changed-file.ts'
import type { CaseContext } from './conformance-case.ts'
import { damageOfFile, damageOfRecords, noteDamage } from './describe-damage.ts'
import { HarnessError } from './harness.ts'
import { bytesOf, type LogPart } from './log-parts.ts'
import { shortValue } from './short-value.ts'
import { appendEach } from './stored-events.ts'
import type { StoredRecords } from './stored-records.ts'

/** One stored, closed log that can be damaged, whatever its layout. */
export interface LocatedLog {
  readonly id: string
  readonly events: readonly AnySessionEvent[]
  readonly batches: readonly (readonly AnySessionEvent[])[]
  /** As stored when it was closed, a part for each batch; one for all where its batches cannot be told apart. */
  readonly parts: readonly LogPart[]
  /** The file that is of this session alone; undefined where it is records. */
  readonly path: string | undefined
  /** Puts other parts in its place, past the backend. */
  store(parts: readonly LogPart[]): Promise<void>
}

/**
 * Stores one event list a batch and finds where it lies: in records, or in a file. Skips where the file holds other
 * sessions as well: damaging it would damage them all.
 */
export async function locateStoredLog(
  context: CaseContext,
  persistence: SessionPersistence,
  id: string,
  batches: readonly (readonly EventInput[])[],
): Promise<LocatedLog> {
  const { records } = context.medium
  if (records !== undefined) return mapRecords(context, persistence, records, id, batches)
  const atFirst = await contents(context)
  const session = await persistence.create({ id })
  const stored: (readonly AnySessionEvent[])[] = []
  const sizes: ReadonlyMap<string, number>[] = []
  let [path, grew] = [undefined as string | undefined, true]
  for (const [index, batch] of batches.entries()) {
    const before = await contents(context)
    stored.push(appendEach(session, batch))
    await session.flush()
    const after = await contents(context)
    const changed = changedFile(before, after)
    path = changed?.path ?? path
    grew = grew && (index === 0 || changed?.grew === true)
    sizes.push(new Map([...after].map(([file, { length }]) => [file, length])))
  }
  await session.close()
  if (path === undefined || lstatSync(path, { throwIfNoEntry: false }) === undefined || atFirst.has(path)) {
    return context.skip('no file of this medium is of one session alone, and it has no `records`')
  }
  const file = path
  const bytes = readFileSync(file)
  const ends = sizes.map((bySize) => bySize.get(file) ?? 0)
  const isMapped = grew && ends.at(-1) === bytes.length
  const parts = isMapped ? ends.map((end, batch) => [bytes.subarray(ends[batch - 1] ?? 0, end)]) : [[bytes]]
  const store: LocatedLog['store'] = async (changed) => {
    noteDamage(context, basename(file), () => damageOfFile(parts, changed))
    writeFileSync(file, bytesOf(changed))
  }
  return { id, events: stored.flat(), batches: stored, parts, path, store }
}

/** The same with a part for each batch. Skips where no file grows by a batch, and there are no records either. */
export async function mapStoredLog(
  context: CaseContext,
  persistence: SessionPersistence,
  id: string,
  batches: readonly (readonly EventInput[])[],
): Promise<LocatedLog> {
  const log = await locateStoredLog(context, persistence, id, batches)
  if (log.parts.length === batches.length) return log
  return context.skip('no file of this medium grows by appending, and it has no `records`')
}

async function mapRecords(
  context: CaseContext,
  persistence: SessionPersistence,
  records: StoredRecords,
  id: string,
  batches: readonly (readonly EventInput[])[],
): Promise<LocatedLog> {
  const session = await persistence.create({ id })
  const stored: (readonly AnySessionEvent[])[] = []
  const counts: number[] = []
  for (const batch of batches) {
    stored.push(appendEach(session, batch))
    await session.flush()
    const { length } = await records.read(id)
    if (length <= (counts.at(-1) ?? 1)) {
      throw new HarnessError(
        '`records.read` of the medium must return a header and a record for each batch: it shows none for a batch that was flushed.',
      )
    }
    counts.push(length)
  }
  await session.close()
  const all = await records.read(id)
  const parts = counts.map((count, batch) => {
    return all.slice(counts[batch - 1] ?? 0, batch === counts.length - 1 ? undefined : count)
  })
  const store = (changed: readonly LogPart[]): Promise<void> => {
    noteDamage(context, `session ${shortValue(id)}`, () => damageOfRecords(parts, changed))
    return records.write(id, changed.flat())
  }
  return { id, events: stored.flat(), batches: stored, parts, path: undefined, store }
}
