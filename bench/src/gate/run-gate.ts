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
import { cpuMetrics, type SeededSlowdown } from './cpu-metrics.ts'

/** Measurements of CPU time that must all agree before something counts as worse. */
const ATTEMPTS = 3

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
 * Compares this code with the committed baseline. What is worse is measured again, twice; a value that is within its
 * tolerance once was noise.
 */
export async function runGate(options: GateOptions): Promise<GateResult> {
  const { baseline, backends, slowdown, measure, progress = () => {} } = options
  let metrics: ReadonlyMap<string, GateMetric> = new Map()
  let findings: readonly Finding[] = []
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    progress(attempt === 1 ? 'measuring' : 'measuring again what seems worse')
    const scope = { backends, counts: attempt === 1, ...(slowdown === undefined ? {} : { slowdown }) }
    metrics = best(metrics, await measure(scope))
    findings = compareToBaseline(baseline, platformName(), metrics)
    // Counts do not change when they are counted again.
    if (!findings.some((finding) => finding.kind === 'worse' && metrics.get(finding.metric)?.kind === 'cpu')) break
  }
  return { passed: !findings.some(isViolation), findings, metrics }
}

/** The smaller of two values: noise makes slower, never faster. */
function best(
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
    return scope.counts ? new Map([...(await countMetrics(context)), ...cpu]) : cpu
  } finally {
    await context.close()
    await fs.rm(directory, { recursive: true, force: true })
  }
}
