/** A process that nothing disturbs, as operations with the promises between them: what power cuts are tried on. */
import { join } from 'node:path'
import type { CaseContext } from '../conformance-case.ts'
import { visibleImage } from '../crash/crash-images.ts'
import type { DiskImage } from '../crash/disk-image.ts'
import type { Operation } from '../crash/operation.ts'
import { Violation } from '../expectation.ts'
import { parseTrace } from '../trace/parse-trace.ts'
import { type ReplayedTrace, replayTrace } from '../trace/replay-trace.ts'
import type { WorkerStep } from '../worker-process.ts'
import { PromiseLedger, type Promises } from './promises.ts'
import type { TracedMedium, TracedRun } from './traced-medium.ts'

/** Where a process starts. */
export interface Start {
  readonly image: DiskImage
  readonly promises: Promises
  /** From which the process draws its names: another one than whoever left files before it. */
  readonly seed: number
}

export interface RecordedRun {
  readonly start: Start
  readonly operations: readonly Operation<Promises>[]
  readonly trace: string
  /** Absolute paths that were opened, or were to be. */
  readonly opened: ReadonlySet<string>
  /** Files that no machine finds again after a power cut: shared memory of an engine, which nobody ever syncs. */
  readonly vanishes: (path: string) => boolean
}

/** Ends the case as skipped where strace does not show all that the backend does. */
export async function recordRun(
  context: CaseContext,
  medium: TracedMedium,
  steps: readonly WorkerStep[],
  start: Start,
): Promise<RecordedRun> {
  medium.restore(start.image)
  const run = await medium.run(steps, { seed: start.seed })
  requireUndisturbed(run)
  const [elsewhere] = await medium.filesElsewhere()
  if (elsewhere !== undefined) context.skip(`the medium has files that are not below its \`location\`: ${elsewhere}`)
  const replayed = replayRun(medium, steps, start, run)
  const isShared = (path: string): boolean => {
    return replayed.mapped.has(path) && context.medium.isEngineFile?.(join(medium.directory, path)) === true
  }
  const unseen = unseenIn(replayed, medium.image(), isShared)
  if (unseen !== undefined) context.skip(`strace does not show all that the backend does: ${unseen}`)
  return { start, operations: replayed.operations, trace: run.trace, opened: replayed.opened, vanishes: isShared }
}

/** The operations of a process on this medium, and what it has promised. */
export function replayRun(
  { directories }: TracedMedium,
  steps: readonly WorkerStep[],
  start: Start,
  { trace }: TracedRun,
): ReplayedTrace<Promises> {
  const ledger = new PromiseLedger(steps, start.promises)
  const place = { directories, start: start.image }
  return replayTrace(parseTrace(trace), place, (text) => ledger.hearText(text))
}

function requireUndisturbed({ lines }: TracedRun): void {
  const wrong = lines.find(({ kind }) => kind === 'failed' || kind === 'refusal')
  if (wrong !== undefined) throw new Violation(`a process whose disk is well failed: ${JSON.stringify(wrong)}`)
  if (lines.at(-1)?.kind !== 'over') throw new Violation('a process whose disk is well ended before it was done')
}

/** What a replay of the trace does not lead to, in a few words. */
function unseenIn(
  { disk, mapped, unknown }: ReplayedTrace<Promises>,
  real: DiskImage,
  isShared: (path: string) => boolean,
): string | undefined {
  if (unknown.size > 0) return [...unknown].join(', ')
  const mappedData = [...mapped].find((path) => !isShared(path))
  if (mappedData !== undefined) return `${mappedData} is written through memory, and \`isEngineFile\` does not name it`
  const model = visibleImage(disk)
  for (const path of new Set([...model.nodes.keys(), ...real.nodes.keys()])) {
    if (isShared(path)) continue
    const [shown, found] = [model.nodes.get(path), real.nodes.get(path)]
    if (model.nodes.has(path) !== real.nodes.has(path)) return `${path} is ${found === undefined ? 'gone' : 'there'}`
    if (shown?.equals(found ?? Buffer.alloc(0)) === false) return `${path} holds other bytes`
  }
  return undefined
}
