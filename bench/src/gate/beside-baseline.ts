/** Measures this code in turn with the code that the baseline was taken of: the same machine, the same moment. */
import { type Attempts, CLEAR_ATTEMPTS, combined, repeat } from './attempts.ts'
import { type Baseline, compareToBaseline, type Finding, platformName, TOLERANCE_BESIDE } from './baseline.ts'
import type { GateMetrics, GateScope, MeasureGate } from './measure-gate.ts'

/** At most, so that the gate ends within ten minutes on a busy machine, too; five decide what is clear. */
const PAIRS = 7

export interface Beside {
  /** Of the metrics that are in doubt. */
  readonly baseline: Baseline
  readonly scope: GateScope
  readonly measure: MeasureGate
  readonly measureBaselineCode: MeasureGate
  readonly progress: (text: string) => void
}

export interface BesideResult {
  readonly findings: readonly Finding[]
  /** What was in doubt and both have; the baseline's code may know fewer metrics than this. */
  readonly metrics: GateMetrics
}

export async function measureBeside(options: Beside): Promise<BesideResult> {
  const { baseline, measure, measureBaselineCode, progress } = options
  const before: GateMetrics[] = []
  const { slowdown: _, ...plain } = options.scope
  const attempts: Attempts = {
    taken: [],
    least: CLEAR_ATTEMPTS,
    most: PAIRS,
    measure: async (scope) => {
      progress(`measuring beside the code of the baseline: ${scope.backends.join(', ')}`)
      const measureBefore = async (): Promise<void> => {
        before.push(await measureBaselineCode({ ...plain, backends: scope.backends, memory: scope.memory }))
      }
      // By turns: what warms up or tires while they run is in favour of neither.
      const beforeFirst = before.length % 2 === 0
      if (beforeFirst) await measureBefore()
      const now = await measure(scope)
      if (!beforeFirst) await measureBefore()
      return now
    },
    reference: () => {
      const found = [...combined(before)].filter(([name]) => name in baseline.metrics)
      return { ...baseline, metrics: Object.fromEntries(found) }
    },
    tolerances: TOLERANCE_BESIDE,
  }
  await repeat(attempts, options.scope)
  const reference = attempts.reference()
  const metrics = new Map([...combined(attempts.taken)].filter(([name]) => name in reference.metrics))
  return { findings: compareToBaseline(reference, platformName(), metrics, TOLERANCE_BESIDE), metrics }
}
