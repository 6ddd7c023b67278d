import { readFileSync, statSync } from 'node:fs'
import type { AnySessionEvent } from '@session-persistence/core'
import { changedFile } from './changed-file.ts'
import type { CaseContext } from './conformance-case.ts'
import { type RestingMedium, restMedium } from './damage.ts'
import { expectEqual, expectThat } from './expectation.ts'
import { bytesOf, endsOf } from './log-parts.ts'
import { regularFilesAtRest } from './medium-files.ts'
import { shortValue } from './short-value.ts'
import { BATCHES, storeMapped } from './small-log.ts'
import { storedEvents } from './stored-events.ts'
import type { WorkerProcess, WorkerStep } from './worker-process.ts'

/** The small log in a file that grew by a batch at each flush, so that cutting it tears the last of them. */
export interface TearableLog {
  readonly path: string
  readonly bytes: Buffer
  /** Where in the file each batch ends. */
  readonly ends: readonly number[]
  readonly events: readonly AnySessionEvent[]
  readonly batches: readonly (readonly AnySessionEvent[])[]
  /** Whether the engine under the backend takes back a batch that is cut short, before the backend can see it. */
  readonly takenBack: boolean
}

/**
 * The small log at rest. Where a session is records, the file is one of the engine's, as a process that was killed
 * after its last flush leaves it.
 */
export async function storeTearable(context: CaseContext): Promise<TearableLog> {
  if (context.medium.records === undefined) {
    const { path, parts, events, batches } = await storeMapped(context)
    if (path === undefined) return context.skip('no file of this medium grows by a batch')
    return { path, bytes: bytesOf(parts), ends: endsOf(parts), events, batches, takenBack: false }
  }
  if (!context.spawns || !context.medium.listsFiles) {
    return context.skip('tearing a batch of this medium takes `module`, `openAt`, `location` and `files`')
  }
  const { path, ends, events, resting, isReplaced } = await storeAndDie(context, 's')
  if (path === undefined && isReplaced) {
    return context.doesNotApply('says nothing of a medium where every batch puts a whole new file in place of the last')
  }
  if (path === undefined) return context.skip('no file of this medium grows by a batch')
  const counts = BATCHES.map((_, batch) => BATCHES.slice(0, batch + 1).flat().length)
  const batches = counts.map((count, batch) => events.slice(counts[batch - 1] ?? 0, count))
  return { path, bytes: resting.files.get(path) ?? Buffer.alloc(0), ends, events, batches, takenBack: true }
}

/** The small log as a killed process left it. */
export interface CrashedLog {
  /** The file that grew by a batch at each flush, if one did. */
  readonly path: string | undefined
  /** Where in it each batch ends. */
  readonly ends: readonly number[]
  readonly events: readonly AnySessionEvent[]
  /** Whether each flush put another file in the place of one, and changed none: nothing can be torn. */
  readonly isReplaced: boolean
  /** The medium as it was left, before anything opened it again. */
  readonly resting: RestingMedium
}

/** Stores the small log in another process, and kills that after its last flush while the session is open. */
export async function storeAndDie(context: CaseContext, id: string): Promise<CrashedLog> {
  const steps: readonly WorkerStep[] = [
    { do: 'create', id },
    ...BATCHES.flatMap((events) => [{ do: 'append', id, events } as const, { do: 'flush', id } as const]),
  ]
  const worker = context.spawn({ kind: 'script', steps, paced: true })
  const sizes: (readonly [string, number])[][] = []
  let path: string | undefined
  let isReplaced = true
  let places = await inodesOf(context)
  let before = await contentsAtRest(context)
  for (const [index, step] of steps.entries()) {
    await stepDone(worker, index)
    if (step.do !== 'flush') continue
    const after = await contentsAtRest(context)
    const changed = sizes.length === 0 ? undefined : changedFile(before, after)
    if (changed?.grew === true) path = changed.path
    const now = await inodesOf(context)
    if (sizes.length > 0) isReplaced &&= isReplacedOnly(before, after, places, now)
    places = now
    sizes.push([...after].map(([file, { length }]) => [file, length]))
    before = after
  }
  await worker.kill()
  const resting = await restMedium(context)
  const persistence = await context.open()
  const events = await storedEvents(persistence, id)
  await persistence.close()
  await resting.restore()
  expectEqual(events.length, BATCHES.flat().length, 'events of a process that was killed after its last flush')
  return { path, ends: sizes.map((files) => new Map(files).get(path ?? '') ?? 0), events, isReplaced, resting }
}

async function inodesOf({ medium }: CaseContext): Promise<ReadonlyMap<string, bigint>> {
  return new Map((await regularFilesAtRest(medium)).map((path) => [path, statSync(path, { bigint: true }).ino]))
}

/** The same names, at least one of other bytes, and each of those another file than before: both were there at once. */
function isReplacedOnly(
  before: ReadonlyMap<string, Buffer>,
  after: ReadonlyMap<string, Buffer>,
  inodes: ReadonlyMap<string, bigint>,
  inodesAfter: ReadonlyMap<string, bigint>,
): boolean {
  if (before.size !== after.size) return false
  const changed = [...after].filter(([path, bytes]) => before.get(path)?.equals(bytes) !== true)
  return changed.length > 0 && changed.every(([path]) => before.has(path) && inodes.get(path) !== inodesAfter.get(path))
}

async function stepDone(worker: WorkerProcess, step: number): Promise<void> {
  worker.go()
  for (const kind of ['begin', 'done'] as const) {
    const line = await worker.next()
    const isIt = line?.kind === kind && line.step === step
    expectThat(isIt, `the other process said ${shortValue(line)} instead of ${kind} ${step}`)
  }
}

/** Of the engine's files too: nothing of this process has them open. */
async function contentsAtRest(context: CaseContext): Promise<ReadonlyMap<string, Buffer>> {
  const paths = await regularFilesAtRest(context.medium)
  return new Map(paths.map((path) => [path, readFileSync(path)]))
}
