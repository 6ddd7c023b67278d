import { lstatSync } from 'node:fs'
import type { CaseContext } from './conformance-case.ts'
import { expectThat } from './expectation.ts'
import type { WorkerProcess, WorkerStep } from './worker-process.ts'

/**
 * When a process is killed inside an operation, counted from the acknowledgement that the operation begins: after so
 * many looks at the medium, after so many changes of what is visible there, or when it says that it is done. Nothing is
 * timed by a clock.
 */
export interface KillMoment {
  readonly after: 'looks' | 'changes' | 'end'
  readonly count: number
}

const AT_ITS_END: KillMoment = { after: 'end', count: Number.POSITIVE_INFINITY }

const FULL: readonly KillMoment[] = [
  ...[0, 1, 2, 4, 8].map((count) => ({ after: 'looks', count }) as const),
  ...[1, 2, 3, 4].map((count) => ({ after: 'changes', count }) as const),
  AT_ITS_END,
]
const QUICK: readonly KillMoment[] = [{ after: 'looks', count: 0 }, { after: 'changes', count: 1 }, AT_ITS_END]

export function killMoments(context: CaseContext): readonly KillMoment[] {
  return context.effort === 'full' ? FULL : QUICK
}

/** Runs the script in another process and kills that inside step `inside`, or right after it where it was too quick. */
export async function killInside(
  context: CaseContext,
  steps: readonly WorkerStep[],
  inside: number,
  moment: KillMoment,
): Promise<void> {
  const worker = context.spawn({ kind: 'script', steps })
  for (;;) {
    const line = await worker.next()
    expectThat(line !== undefined && line.kind !== 'failed', `the other process said ${JSON.stringify(line)}`)
    if (line.kind === 'begin' && line.step === inside) break
  }
  let seen = await visible(context)
  let counted = 0
  while (counted < moment.count && !isDone(worker, inside)) {
    const now = await visible(context)
    if (moment.after === 'looks' || now !== seen) counted += 1
    seen = now
  }
  await worker.kill()
}

function isDone(worker: WorkerProcess, inside: number): boolean {
  return worker.lines.some((line) => {
    return line.kind === 'failed' || line.kind === 'stalled' || (line.kind === 'done' && line.step === inside)
  })
}

/** Names and sizes of the files; where the harness does not tell them, a turn of the event loop counts as a look. */
async function visible(context: CaseContext): Promise<string> {
  await new Promise((resolve) => setImmediate(resolve))
  if (!context.medium.listsFiles) return ''
  const paths = await context.medium.files()
  return paths.map((path) => `${path} ${lstatSync(path, { throwIfNoEntry: false })?.size ?? ''}`).join('\n')
}
