/** Repeats measurements until what they say together is clear. */
import { quantile } from '../statistics/estimate.ts'
import { type Baseline, doubtfulMetrics, type GateMetric, platformName, type Tolerance } from './baseline.ts'
import type { GateMetrics, GateScope, MeasureGate } from './measure-gate.ts'

/** Measurements in all that decide what looks doubtful. */
export const ATTEMPTS = 9

/** Attempts that need not be repeated when all of them say the same. */
export const CLEAR_ATTEMPTS = 5

export interface Attempts {
  /** What was measured; goes on where earlier attempts ended. */
  readonly taken: GateMetrics[]
  /** Values that a metric needs, however clear they seem. */
  readonly least: number
  readonly most: number
  readonly measure: MeasureGate
  /** What they are held against; may change with every attempt. */
  readonly reference: () => Baseline
  readonly tolerances: Tolerance
}

/** Measures the backends of what is in doubt again, until nothing is, or enough was measured. Returns what still is. */
export async function repeat(attempts: Attempts, first: GateScope): Promise<readonly string[]> {
  const { taken, least, most, measure, reference, tolerances } = attempts
  let scope = first
  for (;;) {
    taken.push(await measure(scope))
    const metrics = combined(taken)
    const doubtful = doubtfulMetrics(reference(), platformName(), metrics, tolerances)
    const unclear = [...metrics.keys()].filter(
      (name) => name in reference().metrics && valuesOf(name, taken).length < least,
    )
    const open = [...doubtful, ...unclear]
    if (taken.length >= most || open.length === 0 || isSurelyClosed(attempts, doubtful)) return doubtful
    scope = scopeOf(open, metrics, first)
  }
}

/** The backends of these metrics. */
export function scopeOf(names: readonly string[], metrics: GateMetrics, first: GateScope): GateScope {
  const backends = new Set(names.map((name) => name.split(' ').at(-1) ?? ''))
  const kinds = names.map((name) => metrics.get(name)?.kind)
  return { ...first, counts: kinds.includes('count'), memory: kinds.includes('memory'), backends: [...backends] }
}

/** Enough attempts of one metric, all beyond its limit: no more of them would open the gate, whatever the others say. */
function isSurelyClosed({ taken, reference, tolerances }: Attempts, doubtful: readonly string[]): boolean {
  const { metrics } = reference()
  return doubtful.some((name) => {
    const { kind, value = 0 } = metrics[name] ?? { kind: 'count' }
    const found = valuesOf(name, taken)
    return found.length >= CLEAR_ATTEMPTS && found.every((one) => one > value * tolerances[kind])
  })
}

/**
 * Metric by metric, of the attempts that measured it. Processes that run the same code fall into two or three groups that lie up to a third
 * apart in CPU time; a median jumps from one to the other, so those have their geometric mean.
 */
export function combined(attempts: readonly GateMetrics[]): GateMetrics {
  const merged = new Map<string, GateMetric>()
  for (const [name, metric] of attempts.flatMap((attempt) => [...attempt])) {
    if (merged.has(name)) continue
    const values = valuesOf(name, attempts)
    merged.set(name, { ...metric, value: metric.kind === 'cpu' ? geometricMean(values) : median(values) })
  }
  return merged
}

function valuesOf(name: string, attempts: readonly GateMetrics[]): readonly number[] {
  return attempts.flatMap((attempt) => attempt.get(name)?.value ?? [])
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
