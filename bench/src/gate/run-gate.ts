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

export interface GateOptions {
  readonly backends?: readonly string[]
  readonly baseline: Baseline
  readonly slowdown?: SeededSlowdown
  readonly progress?: (text: string) => void
  readonly signal?: AbortSignal
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
  const { baseline, progress = () => {} } = options
  let metrics: ReadonlyMap<string, GateMetric> = new Map()
  let findings: readonly Finding[] = []
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    progress(attempt === 1 ? 'measuring' : 'measuring again what seems worse')
    metrics = best(metrics, await measureGate(options, attempt === 1))
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

/** All metrics once; without `counts` those of CPU time only. */
export async function measureGate(
  options: Pick<GateOptions, 'backends' | 'slowdown' | 'progress' | 'signal'>,
  counts: boolean,
): Promise<ReadonlyMap<string, GateMetric>> {
  const directory = await temporaryDirectory()
  const context = new RunContext({
    backends: await findBackends(options.backends),
    scale: QUICK,
    directory,
    signal: options.signal,
    progress: options.progress ?? (() => {}),
  })
  try {
    const cpu = await cpuMetrics(context, options.slowdown)
    await context.endScenario()
    return counts ? new Map([...(await countMetrics(context)), ...cpu]) : cpu
  } finally {
    await context.close()
    await fs.rm(directory, { recursive: true, force: true })
  }
}
