import type { BackendDescription } from '@session-persistence/core'
import { type Family, TIERS, type Tier } from '../conformance-case.ts'
import { KIT_VERSION } from '../kit-version.ts'

/** Raised when a reader of older reports would misread a newer one. */
export const REPORT_VERSION = 1

/** How a failure explains itself. */
export interface FailureReport {
  /** What was expected and what was found, on one line. */
  readonly message: string
  /** The items around the first difference, as lines of a small patch; empty where there is no list. */
  readonly window: readonly string[]
  /** The last operations on the persistence, oldest first, each with its outcome. */
  readonly history: readonly string[]
  /** What is wrong most often when this clause fails; empty where the failure is one of time. */
  readonly usualCause: string
  /** The command that repeats it. */
  readonly repeat: string
}

export interface CaseResult {
  readonly id: string
  readonly level: 'MUST' | 'SHOULD'
  readonly family: Family
  readonly tier: Tier
  readonly title: string
  /**
   * `known-failure`: it failed, and the harness lists it in `knownFailures`; counted as skipped. `not-applicable`: the
   * clause is about other capability levels than those declared, for which other clauses ran; a count of its own.
   */
  readonly status: 'passed' | 'failed' | 'skipped' | 'known-failure' | 'not-applicable'
  /** Why it did not run, or how it failed. One line, never a stack. */
  readonly message?: string
  readonly failure?: FailureReport
  /** Where the known failure is tracked; on a failed case too that passes by now and must be taken off the list. */
  readonly knownFailure?: string
  /** SHA-256 of everything that a generated workload observed: equal on all backends for equal seeds. */
  readonly digest?: string
  /** How much was tried, by what it counts, where a clause is tried more than once. */
  readonly tried?: Readonly<Record<string, number>>
  readonly durationMs: number
}

export interface TierReport {
  readonly tier: Tier
  readonly exercised: boolean
  /** Why not. */
  readonly reason?: string
}

/** The highest tier that was passed, all tiers before it included, by the name that the badge shows. */
export type Level = 'none' | 'core' | 'crash' | 'medium' | 'io' | 'power'

export const LEVEL_OF: { readonly [T in Tier]: Level } = {
  logic: 'core',
  process: 'crash',
  medium: 'medium',
  io: 'io',
  power: 'power',
}

/** JSON-able. Without the durations it is the same for the same seed on the same machine. */
export interface ConformanceReport {
  readonly reportVersion: typeof REPORT_VERSION
  readonly kitVersion: string
  readonly environment: { readonly node: string; readonly platform: string; readonly arch: string }
  readonly harness: string
  /** As the backend describes itself, effective modes included; undefined when it never opened. */
  readonly backend?: BackendDescription
  readonly seed: number
  readonly effort: 'quick' | 'full'
  /**
   * `violations`: a case failed that is not a known failure. `harness-error`: no verdict, because harness, medium, kit
   * or a declared capability is wrong. `nothing-ran`: not one MUST case ran.
   */
  readonly outcome: 'conforms' | 'violations' | 'harness-error' | 'nothing-ran'
  /**
   * One sentence that says what to change in the harness. With outcome `violations`: a capability is declared wrongly,
   * and other clauses failed as well.
   */
  readonly harnessError?: string
  /** Reached without a failed MUST clause, known failures counted as failed, and without one that was skipped. */
  readonly reached: Level
  readonly tiers: readonly TierReport[]
  readonly results: readonly CaseResult[]
  /** Known failures are counted as skipped. */
  readonly counts: {
    readonly passed: number
    readonly failed: number
    readonly skipped: number
    readonly notApplicable: number
  }
}

/** Exit codes of the command, by outcome. */
export const EXIT_CODES: { readonly [K in ConformanceReport['outcome']]: number } = {
  conforms: 0,
  violations: 1,
  'harness-error': 2,
  'nothing-ran': 3,
}

/** Puts the verdict together. */
export function summarize(facts: {
  readonly harness: string
  readonly backend: BackendDescription | undefined
  readonly seed: number
  readonly effort: 'quick' | 'full'
  readonly harnessError: string | undefined
  /** Clauses failed that no declaration could have spared the backend: a violation, whatever else is wrong. */
  readonly isViolated?: boolean
  readonly results: readonly CaseResult[]
  readonly tierReasons: ReadonlyMap<Tier, string>
}): ConformanceReport {
  const { results } = facts
  const count = (...statuses: readonly CaseResult['status'][]): number =>
    results.filter(({ status }) => statuses.includes(status)).length
  const counts = {
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped', 'known-failure'),
    notApplicable: count('not-applicable'),
  }
  const tiers = TIERS.map((tier): TierReport => {
    const exercised = results.some((result) => result.tier === tier && hasRun(result))
    if (exercised) return { tier, exercised }
    const otherwise = facts.harnessError === undefined ? 'no case of this tier was selected' : 'the run ended before it'
    return { tier, exercised, reason: facts.tierReasons.get(tier) ?? otherwise }
  })
  return {
    reportVersion: REPORT_VERSION,
    kitVersion: KIT_VERSION,
    environment: { node: process.version, platform: process.platform, arch: process.arch },
    harness: facts.harness,
    ...(facts.backend === undefined ? {} : { backend: facts.backend }),
    seed: facts.seed,
    effort: facts.effort,
    outcome: facts.isViolated === true ? 'violations' : outcomeOf(facts.harnessError, results),
    ...(facts.harnessError === undefined ? {} : { harnessError: facts.harnessError }),
    reached: facts.harnessError === undefined ? reachedBy(tiers, results) : 'none',
    tiers,
    results,
    counts,
  }
}

/** A MUST clause that applies and was not tried: no level is claimed over it. */
export function isUntried({ level, status }: CaseResult): boolean {
  return level === 'MUST' && status === 'skipped'
}

function hasRun({ status }: CaseResult): boolean {
  return status !== 'skipped' && status !== 'not-applicable'
}

function outcomeOf(harnessError: string | undefined, results: readonly CaseResult[]): ConformanceReport['outcome'] {
  if (harnessError !== undefined) return 'harness-error'
  if (!results.some((result) => result.level === 'MUST' && hasRun(result))) return 'nothing-ran'
  return results.some(({ status }) => status === 'failed') ? 'violations' : 'conforms'
}

function reachedBy(tiers: readonly TierReport[], results: readonly CaseResult[]): Level {
  let reached: Level = 'none'
  for (const { tier, exercised } of tiers) {
    const broken = results.some(
      (result) =>
        result.tier === tier &&
        result.level === 'MUST' &&
        (isUntried(result) || ['failed', 'known-failure'].includes(result.status)),
    )
    if (!exercised || broken) break
    reached = LEVEL_OF[tier]
  }
  return reached
}
