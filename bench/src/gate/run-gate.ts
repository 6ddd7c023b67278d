import fs from 'node:fs/promises'
import { findBackends } from '../backend/find-backends.ts'
import { temporaryDirectory } from '../backend/temporary-directory.ts'
import { RunContext } from '../scenario/context.ts'
import { QUICK } from '../scenario/scale.ts'
import {
  type Baseline,
  compareToBaseline,
  type Finding,
  type GateMetric,
  isViolation,
  platformName,
} from './baseline.ts'
import { countMetrics } from './count-metrics.ts'
import { cpuMetrics, EVERY, type SeededSlowdown } from './cpu-metrics.ts'
import { memoryMetrics } from './memory-metrics.ts'

/** Measurements of CPU time and memory that must all agree before something counts as worse. */
export const ATTEMPTS = 5

/** What to measure. */
export interface GateScope {
  readonly backends: readonly string[]
  /** Counts as well as CPU time. */
  readonly counts: boolean
  readonly slowdown?: SeededSlowdown
}

export interface GateOptions extends Omit<GateScope, 'counts'> {
  readonly baseline: Baseline
  /** Takes one measurement; in a process of its own, since code that ran before is compiled differently. */
  readonly measure: (scope: GateScope) => Promise<ReadonlyMap<string, GateMetric>>
  readonly progress?: (text: string) => void
}

export interface GateResult {
  readonly passed: boolean
  readonly findings: readonly Finding[]
  readonly metrics: ReadonlyMap<string, GateMetric>
}

/**
 * Compares this code with the committed baseline. What is worse is measured again, up to four times; a value that is
 * within its tolerance once was noise. The baseline is taken the same way, as the smallest of as many values.
 */
export async function runGate(options: GateOptions): Promise<GateResult> {
  const { baseline, backends, slowdown, measure, progress = () => {} } = options
  let metrics: ReadonlyMap<string, GateMetric> = new Map()
  let findings: readonly Finding[] = []
  let scope: GateScope = { backends, counts: true, ...(slowdown === undefined ? {} : { slowdown }) }
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    progress(attempt === 1 ? 'measuring' : `measuring again what seems worse: ${scope.backends.join(', ')}`)
    metrics = best(metrics, await measure(scope))
    findings = compareToBaseline(baseline, platformName(), metrics)
    const doubtful = findings.filter(({ kind }) => kind === 'worse').map(({ metric }) => metric)
    if (doubtful.length === 0) break
    const suspects = new Set(doubtful.map((metric) => metric.split(' ').at(-1) ?? ''))
    const counts = doubtful.some((metric) => metrics.get(metric)?.kind === 'count')
    scope = { ...scope, counts, backends: [...suspects] }
  }
  return { passed: !findings.some(isViolation), findings, metrics }
}

/** The smaller of two values: noise makes slower, never faster. */
export function best(
  before: ReadonlyMap<string, GateMetric>,
  now: ReadonlyMap<string, GateMetric>,
): ReadonlyMap<string, GateMetric> {
  const merged = new Map(before)
  for (const [name, metric] of now) {
    const known = merged.get(name)
    if (known === undefined || metric.value < known.value) merged.set(name, metric)
  }
  return merged
}

/** Takes one measurement in this process. */
export async function measureGate(scope: GateScope): Promise<ReadonlyMap<string, GateMetric>> {
  const directory = await temporaryDirectory()
  const context = new RunContext({
    backends: (await findBackends(scope.backends)).backends,
    scale: QUICK,
    directory,
    signal: undefined,
    progress: () => {},
  })
  try {
    const cpu = await cpuMetrics(context, scope.slowdown)
    await context.endScenario()
    const memory = await memoryMetrics(context)
    await context.endScenario()
    const counts = scope.counts ? await countMetrics(context) : []
    return new Map([...slowed(counts, scope.slowdown), ...cpu, ...slowed(memory, scope.slowdown)])
  } finally {
    await context.close()
    await fs.rm(directory, { recursive: true, force: true })
  }
}

/** What is not timed cannot be made slower: its value is multiplied. A count of none becomes one. */
function* slowed(
  metrics: Iterable<readonly [string, GateMetric]>,
  slowdown: SeededSlowdown | undefined,
): Generator<readonly [string, GateMetric]> {
  for (const [name, metric] of metrics) {
    const meant = slowdown?.metric === name || slowdown?.metric === EVERY
    yield [name, meant ? { ...metric, value: metric.value === 0 ? 1 : metric.value * slowdown.factor } : metric]
  }
}
