import { TIERS } from '../conformance-case.ts'
import { type CaseResult, type ConformanceReport, isUntried, LEVEL_OF } from './conformance-report.ts'

/** A level that was not reached for no other reason than that clauses of it were left out. */
export interface Shortfall {
  /** Such as `medium: 9 of 25 clauses tried`. */
  readonly words: string
  /** What unlocks the others, such as `add records to the medium`; undefined where nothing in the harness does. */
  readonly remedy: string | undefined
}

const OF_MEDIUM: readonly string[] = ['`files`', '`records`', '`stampVersion`', '`location`']

/** The level after the one reached, where its tier was exercised in part only and nothing in it failed. */
export function levelShortfall({ results, reached, outcome }: ConformanceReport): Shortfall | undefined {
  const next = TIERS[TIERS.findIndex((tier) => LEVEL_OF[tier] === reached) + 1]
  if (next === undefined || (outcome !== 'conforms' && outcome !== 'violations')) return undefined
  const ofTier = results.filter(({ tier, status }) => tier === next && status !== 'not-applicable')
  const skipped = ofTier.filter(isUntried)
  const isBroken = ofTier.some(({ status }) => status === 'failed' || status === 'known-failure')
  if (isBroken || skipped.length === 0 || skipped.length === ofTier.length) return undefined
  const tried = ofTier.filter(({ status }) => status !== 'skipped').length
  return { words: `${LEVEL_OF[next]}: ${tried} of ${ofTier.length} clauses tried`, remedy: remedyOf(skipped) }
}

/** The parts of a harness that the reasons name. */
function remedyOf(skipped: readonly CaseResult[]): string | undefined {
  const named = new Set(skipped.flatMap(({ message = '' }) => message.match(/`\w+`/g) ?? []))
  if (named.size === 0) return undefined
  const where = [...named].every((part) => OF_MEDIUM.includes(part)) ? 'medium' : 'harness'
  return `add ${[...named].join(', ')} to the ${where}`
}

/** One line: the level reached, and how far it is to the next where only clauses left out are in between. */
export function levelReached(report: ConformanceReport): string {
  const shortfall = levelShortfall(report)
  if (shortfall === undefined) return report.reached
  const { words, remedy } = shortfall
  return `${report.reached}; ${words}${remedy === undefined ? '' : ` (${remedy})`}`
}
