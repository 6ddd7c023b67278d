import { ATTEMPTS, type Attempts, combined, repeat, scopeOf } from './attempts.ts'
import {
  type Baseline,
  compareToBaseline,
  type Finding,
  isViolation,
  partOf,
  platformName,
  TOLERANCE,
} from './baseline.ts'
import { measureBeside } from './beside-baseline.ts'
import type { GateMetrics, GateScope, MeasureGate } from './measure-gate.ts'

/** Measurements that are held against the committed figures, before the code that those were taken of is measured beside. */
export const ATTEMPTS_ALONE = 3

export interface GateOptions extends Pick<GateScope, 'backends' | 'slowdown'> {
  readonly baseline: Baseline
  /** Takes one measurement; in a process of its own, since code that ran before is compiled differently. */
  readonly measure: MeasureGate
  /** Makes the code that the baseline was taken of ready to be measured. Asked once, in doubt; none where it cannot be had. */
  readonly baselineCode?: () => Promise<MeasureGate | undefined>
  readonly progress?: (text: string) => void
}

export interface GateResult {
  readonly passed: boolean
  readonly findings: readonly Finding[]
  readonly metrics: GateMetrics
}

/**
 * Compares this code with the committed baseline. Backends in which anything looks doubtful, which is nearer to its limit
 * than to its baseline, are measured again: first against the committed figures, then in turn with the code that those were
 * taken of, which meets the same machine. Where that code cannot be had, more measurements against the figures decide.
 */
export async function runGate(options: GateOptions): Promise<GateResult> {
  const { baseline, backends, slowdown, baselineCode, progress = () => {} } = options
  const whole: GateScope = { backends, counts: true, memory: true, ...(slowdown === undefined ? {} : { slowdown }) }
  const alone: Attempts = {
    taken: [],
    least: 1,
    most: baselineCode === undefined ? ATTEMPTS : ATTEMPTS_ALONE,
    measure: (scope) => {
      progress(scope === whole ? 'measuring' : `measuring again what is doubtful: ${scope.backends.join(', ')}`)
      return options.measure(scope)
    },
    reference: () => baseline,
    tolerances: TOLERANCE,
  }
  const doubtful = await repeat(alone, whole)
  const metrics = combined(alone.taken)
  // Counts are the same on every machine.
  const unsettled = doubtful.filter((name) => metrics.get(name)?.kind !== 'count')
  if (unsettled.length === 0 || alone.most === ATTEMPTS) return resultOf(against(baseline, metrics), metrics)

  const measureBaselineCode = await baselineCode?.()
  if (measureBaselineCode === undefined) {
    await repeat({ ...alone, most: ATTEMPTS }, scopeOf(doubtful, metrics, whole))
    const more = combined(alone.taken)
    return resultOf(against(baseline, more), more)
  }
  const beside = await measureBeside({
    baseline: partOf(baseline, (name) => unsettled.includes(name)),
    scope: scopeOf(unsettled, metrics, whole),
    measure: options.measure,
    measureBaselineCode,
    progress,
  })
  const findings = against(baseline, metrics).filter(({ metric }) => !beside.metrics.has(metric))
  return resultOf([...findings, ...beside.findings], new Map([...metrics, ...beside.metrics]))
}

function against(baseline: Baseline, metrics: GateMetrics): readonly Finding[] {
  return compareToBaseline(baseline, platformName(), metrics)
}

function resultOf(findings: readonly Finding[], metrics: GateMetrics): GateResult {
  return { passed: !findings.some(isViolation), findings, metrics }
}
