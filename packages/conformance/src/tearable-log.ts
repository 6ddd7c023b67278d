import { readFileSync, statSync } from 'node:fs'
import type { AnySessionEvent } from '@session-persistence/core'
import { type BatchFile, batchFileOf, type FilesAtRest } from './batch-file.ts'
import type { CaseContext } from './conformance-case.ts'
import { type RestingMedium, restMedium } from './damage.ts'
import { expectEqual, expectThat } from './expectation.ts'
import { bytesOf, endsOf } from './log-parts.ts'
import { isEngineFile, regularFilesAtRest } from './medium-files.ts'
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
  const { path, ends, events, resting, kind } = await storeAndDie(context, 's')
  if (kind === 'replaced') {
    return context.doesNotApply('says nothing of a medium where every batch puts a whole new file in place of the last')
  }
  if (path === undefined) return context.skip('no file of this medium grows by a batch')
  // A file of the backend's own that is too short is for the backend to see.
  const takenBack = kind === 'appended' || isEngineFile(context.medium, path)
  const counts = BATCHES.map((_, batch) => BATCHES.slice(0, batch + 1).flat().length)
  const batches = counts.map((count, batch) => events.slice(counts[batch - 1] ?? 0, count))
  return { path, bytes: resting.files.get(path) ?? Buffer.alloc(0), ends, events, batches, takenBack }
}

/** The small log as a killed process left it. */
export interface CrashedLog {
  /** The file that grew by a batch at each flush, or that the last of them made, if one did. */
  readonly path: string | undefined
  /** Where in it each batch ends. */
  readonly ends: readonly number[]
  readonly events: readonly AnySessionEvent[]
  readonly kind: BatchFile['kind']
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
  const states = [await filesAtRest(context)]
  for (const [index, step] of steps.entries()) {
    await stepDone(worker, index)
    if (step.do === 'flush') states.push(await filesAtRest(context))
  }
  await worker.kill()
  const resting = await restMedium(context)
  const persistence = await context.open()
  const events = await storedEvents(persistence, id)
  await persistence.close()
  await resting.restore()
  expectEqual(events.length, BATCHES.flat().length, 'events of a process that was killed after its last flush')
  const batchFile = batchFileOf(states)
  const { path, ends } = 'path' in batchFile ? batchFile : { path: undefined, ends: [] }
  return { path, ends, events, kind: batchFile.kind, resting }
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
async function filesAtRest({ medium }: CaseContext): Promise<FilesAtRest> {
  const paths = await regularFilesAtRest(medium)
  return new Map(
    paths.map((path) => [path, { bytes: readFileSync(path), inode: statSync(path, { bigint: true }).ino }]),
  )
}
