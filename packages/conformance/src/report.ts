import type { BackendDescription } from '@session-persistence/core'
import { type Family, TIERS, type Tier } from './conformance-case.ts'

/** Raised when a reader of older reports would misread a newer one. */
export const REPORT_VERSION = 1

export interface CaseResult {
  readonly id: string
  readonly level: 'MUST' | 'SHOULD'
  readonly family: Family
  readonly tier: Tier
  readonly title: string
  readonly status: 'passed' | 'failed' | 'skipped'
  /** Why it was skipped, or how it failed. Never a stack. */
  readonly message?: string
  readonly durationMs: number
}

export interface TierReport {
  readonly tier: Tier
  readonly exercised: boolean
  /** Why not. */
  readonly reason?: string
}

/** JSON-able. Without the durations it is the same for the same seed. */
export interface ConformanceReport {
  readonly reportVersion: typeof REPORT_VERSION
  readonly harness: string
  /** As the backend describes itself, effective modes included; undefined when it never opened. */
  readonly backend?: BackendDescription
  readonly seed: number
  readonly effort: 'quick' | 'full'
  /** `nothing-ran`: not one MUST case ran. */
  readonly outcome: 'conforms' | 'violations' | 'harness-error' | 'nothing-ran'
  /** What to change in the harness. */
  readonly harnessError?: string
  /** Tiers passed without a failed MUST clause, in order: `core` is logic, `crash` adds process, `medium` adds medium. */
  readonly reached: 'none' | 'core' | 'crash' | 'medium'
  readonly tiers: readonly TierReport[]
  readonly results: readonly CaseResult[]
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number }
}

/** Puts the verdict together. */
export function summarize(facts: {
  readonly harness: string
  readonly backend: BackendDescription | undefined
  readonly seed: number
  readonly effort: 'quick' | 'full'
  readonly harnessError: string | undefined
  readonly results: readonly CaseResult[]
  readonly tierReasons: ReadonlyMap<Tier, string>
}): ConformanceReport {
  const { results } = facts
  const count = (status: CaseResult['status']): number => results.filter((result) => result.status === status).length
  const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
  const tiers = TIERS.map((tier): TierReport => {
    const exercised = results.some((result) => result.tier === tier && result.status !== 'skipped')
    if (exercised) return { tier, exercised }
    return { tier, exercised, reason: facts.tierReasons.get(tier) ?? 'no case of this tier was selected' }
  })
  const mustRan = results.some((result) => result.level === 'MUST' && result.status !== 'skipped')
  const mustFailed = results.some((result) => result.level === 'MUST' && result.status === 'failed')
  return {
    reportVersion: REPORT_VERSION,
    harness: facts.harness,
    ...(facts.backend === undefined ? {} : { backend: facts.backend }),
    seed: facts.seed,
    effort: facts.effort,
    outcome:
      facts.harnessError !== undefined
        ? 'harness-error'
        : !mustRan
          ? 'nothing-ran'
          : mustFailed
            ? 'violations'
            : 'conforms',
    ...(facts.harnessError === undefined ? {} : { harnessError: facts.harnessError }),
    reached: reachedBy(tiers, results),
    tiers,
    results,
    counts,
  }
}

function reachedBy(tiers: readonly TierReport[], results: readonly CaseResult[]): ConformanceReport['reached'] {
  const names = { logic: 'core', process: 'crash', medium: 'medium' } as const
  let reached: ConformanceReport['reached'] = 'none'
  for (const { tier, exercised } of tiers) {
    const broken = results.some(
      (result) => result.tier === tier && result.level === 'MUST' && result.status === 'failed',
    )
    if (!exercised || broken) break
    reached = names[tier]
  }
  return reached
}

/** For people. The last line is always `N passed, N failed, N skipped`. */
export function formatReport(report: ConformanceReport): string {
  const lines = [`Conformance of ${report.harness}, seed ${report.seed}, ${report.effort}`]
  if (report.backend !== undefined) {
    const { name, version, capabilities, modes } = report.backend
    lines.push(`backend ${name} ${version}`)
    lines.push(`capabilities ${pairs(capabilities)}`, `modes ${pairs(modes)}`)
  }
  if (report.harnessError !== undefined) lines.push(`harness error: ${report.harnessError}`)
  for (const tier of report.tiers) {
    const ofTier = report.results.filter((result) => result.tier === tier.tier)
    const passed = ofTier.filter((result) => result.status === 'passed').length
    lines.push(
      tier.exercised
        ? `tier ${tier.tier}: ${passed} of ${ofTier.length} passed`
        : `tier ${tier.tier}: NOT EXERCISED, ${tier.reason ?? ''}`,
    )
  }
  for (const result of report.results) {
    if (result.status === 'passed') continue
    const heading = `${result.status === 'failed' ? 'FAILED' : 'skipped'} ${result.id} (${result.level}) ${result.title}`
    lines.push(heading, `    ${result.message ?? ''}`)
    if (result.status === 'failed') lines.push(`    repeat with families ['${result.family}'] and seed ${report.seed}`)
  }
  lines.push(`outcome: ${report.outcome}; level reached: ${report.reached}`)
  lines.push(`${report.counts.passed} passed, ${report.counts.failed} failed, ${report.counts.skipped} skipped`)
  return lines.join('\n')
}

function pairs(record: object): string {
  return Object.entries(record)
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(' ')
}
