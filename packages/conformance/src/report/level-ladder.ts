import { TIERS, type Tier } from '../conformance-case.ts'
import { type ConformanceReport, LEVEL_OF, type Level } from './conformance-report.ts'

/** One tier with the level that it leads to. */
export interface Rung {
  readonly tier: Tier
  readonly level: Level
  readonly isReached: boolean
  /** How many of the clauses that apply passed, or why none was tried. */
  readonly words: string
}

/** Every tier, each built on the one before. */
export function levelLadder({ tiers, results, reached }: ConformanceReport): readonly Rung[] {
  const top = TIERS.findIndex((tier) => LEVEL_OF[tier] === reached)
  return tiers.map(({ tier, exercised, reason }) => {
    const ofTier = results.filter((result) => result.tier === tier)
    const passed = ofTier.filter(({ status }) => status === 'passed').length
    const applicable = ofTier.filter(({ status }) => status !== 'not-applicable').length
    const words = exercised ? `${passed} of ${applicable} passed` : `not exercised: ${reason ?? ''}`
    return { tier, level: LEVEL_OF[tier], isReached: TIERS.indexOf(tier) <= top, words }
  })
}
