import fs from 'node:fs/promises'
import { findBackends } from '../backend/find-backends.ts'
import { temporaryDirectory } from '../backend/temporary-directory.ts'
import { RunContext } from '../scenario/context.ts'
import { QUICK } from '../scenario/scale.ts'
import { quantile } from '../statistics/estimate.ts'
import {
  type Baseline,
  compareToBaseline,
  doubtfulMetrics,
  type Finding,
  type GateMetric,
  isViolation,
  platformName,
  TOLERANCE,
} from './baseline.ts'
import { countMetrics } from './count-metrics.ts'
import { cpuMetrics, EVERY, type SeededSlowdown } from './cpu-metrics.ts'
import { memoryMetrics } from './memory-metrics.ts'

/** Measurements in all that decide what looks doubtful in the first one. */
export const ATTEMPTS = 9

/** Attempts that need not be repeated when all of them say the same. */
export const CLEAR_ATTEMPTS = 5

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
 * Compares this code with the committed baseline. Backends in which anything looks doubtful, which is nearer to its limit
 * than to its baseline, are measured again, up to nine times in all; what they have in the middle decides, as soon as it is clear. The
 * baseline is made in the same way of more.
 */
export async function runGate(options: GateOptions): Promise<GateResult> {
  const { baseline, backends, slowdown, measure, progress = () => {} } = options
  const attempts: ReadonlyMap<string, GateMetric>[] = []
  let scope: GateScope = { backends, counts: true, ...(slowdown === undefined ? {} : { slowdown }) }
  for (;;) {
    progress(attempts.length === 0 ? 'measuring' : `measuring again what is doubtful: ${scope.backends.join(', ')}`)
    attempts.push(await measure(scope))
    const metrics = combined(attempts)
    const doubtful = doubtfulMetrics(baseline, platformName(), metrics)
    if (doubtful.length === 0 || attempts.length === ATTEMPTS || areSurelyWorse(baseline, doubtful, attempts)) {
      const findings = compareToBaseline(baseline, platformName(), metrics)
      return { passed: !findings.some(isViolation), findings, metrics }
    }
    const suspects = new Set(doubtful.map((metric) => metric.split(' ').at(-1) ?? ''))
    const counts = doubtful.some((metric) => metrics.get(metric)?.kind === 'count')
    scope = { ...scope, counts, backends: [...suspects] }
  }
}

/** Enough attempts, of each metric in doubt, all beyond its limit: more of them would not open the gate. */
function areSurelyWorse(
  baseline: Baseline,
  doubtful: readonly string[],
  attempts: readonly ReadonlyMap<string, GateMetric>[],
): boolean {
  return doubtful.every((name) => {
    const { kind, value = 0 } = baseline.metrics[name] ?? { kind: 'count' }
    const found = attempts.flatMap((attempt) => attempt.get(name)?.value ?? [])
    return found.length >= CLEAR_ATTEMPTS && found.every((one) => one > value * TOLERANCE[kind])
  })
}

/**
 * Metric by metric, of the attempts that measured it. Processes that run the same code fall into two or three groups that lie up to a third
 * apart in CPU time; a median jumps from one to the other, so those have their geometric mean.
 */
export function combined(attempts: readonly ReadonlyMap<string, GateMetric>[]): ReadonlyMap<string, GateMetric> {
  const merged = new Map<string, GateMetric>()
  for (const [name, metric] of attempts.flatMap((attempt) => [...attempt])) {
    if (merged.has(name)) continue
    const values = attempts.flatMap((attempt) => attempt.get(name)?.value ?? [])
    merged.set(name, { ...metric, value: metric.kind === 'cpu' ? geometricMean(values) : median(values) })
  }
  return merged
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)
}

function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  )
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
