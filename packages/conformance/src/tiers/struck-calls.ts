/** Where the kernel can strike a process: the n-th of its calls of one kind on the files of its medium. */
import type { CaseContext } from '../conformance-case.ts'
import { parseTrace } from '../trace/parse-trace.ts'
import type { StruckCalls } from '../trace/strace.ts'
import type { WorkerStep } from '../worker-process.ts'
import { recordRun, type Start } from './recorded-run.ts'
import type { TracedMedium } from './traced-medium.ts'

export interface StruckPlace {
  readonly call: string
  /** From 1, as strace counts. */
  readonly when: number
  /** Paths on which it is counted; all where there is none. */
  readonly paths: readonly string[]
}

/** Made by Node itself, too, when it starts and when it prints: struck only on paths that are known beforehand. */
const SHARED: readonly string[] = ['openat', 'write', 'writev', 'read', 'pread64']

/** Made by nobody else in the process: struck wherever they are made. */
const OWN: ReadonlySet<string> = new Set([
  ...['pwrite64', 'pwritev', 'pwritev2', 'ftruncate', 'truncate', 'fallocate', 'copy_file_range', 'sendfile'],
  ...['fsync', 'fdatasync', 'syncfs', 'sync'],
  ...['unlink', 'unlinkat', 'rmdir', 'rename', 'renameat', 'renameat2', 'link', 'linkat', 'mkdir', 'mkdirat'],
])

export const SYNCS: ReadonlySet<string> = new Set(['fsync', 'fdatasync', 'syncfs', 'sync'])

/** Never reached: calls are only seen. */
const NEVER = 65_535

/** Every place of the steps from there on, in runs that nothing disturbs. */
export async function struckPlaces(
  context: CaseContext,
  medium: TracedMedium,
  steps: readonly WorkerStep[],
  start: Start,
): Promise<readonly StruckPlace[]> {
  const first = await recordRun(context, medium, steps, start)
  const second = await recordRun(context, medium, steps, start)
  const paths = [...first.opened].filter((path) => second.opened.has(path))
  const unsteady = first.opened.size - paths.length
  if (unsteady > 0)
    context.note(`${unsteady} paths differ from run to run: reads and writes of these files are not struck`)
  medium.restore(start.image)
  const struck = { rule: `openat:error=EIO:when=${NEVER}`, paths }
  const shared = await medium.run(steps, { seed: start.seed, struck, calls: SHARED, strings: false })
  const own = placesIn(second.trace, (call) => OWN.has(call), [])
  return [...(paths.length === 0 ? [] : placesIn(shared.trace, (call) => SHARED.includes(call), paths)), ...own]
}

/** strace counts the calls of each thread for itself, and strikes all of them at their n-th. */
function placesIn(
  trace: string,
  isWanted: (call: string) => boolean,
  paths: readonly string[],
): readonly StruckPlace[] {
  const most = new Map<string, number>()
  const counts = new Map<string, number>()
  for (const { name, thread } of parseTrace(trace)) {
    if (!isWanted(name)) continue
    const count = (counts.get(`${thread} ${name}`) ?? 0) + 1
    counts.set(`${thread} ${name}`, count)
    most.set(name, Math.max(count, most.get(name) ?? 0))
  }
  return [...most].flatMap(([call, count]) =>
    Array.from({ length: count }, (_, index) => ({ call, when: index + 1, paths })),
  )
}

/** The rule for strace, and the calls to trace with it. */
export function strike(
  { call, when, paths }: StruckPlace,
  error: string,
  isLasting: boolean,
): { readonly struck: StruckCalls; readonly words: string } {
  const rule = `${call}:error=${error}:when=${when}${isLasting ? '+' : ''}`
  const words = `when ${call} number ${when}${isLasting ? ' and all after it' : ''} failed with ${error}`
  return { struck: { rule, paths }, words }
}
