/** Whether the evidence of a run reaches a row of the table. */
import { type SuiteEvidence, WHOLE_SCALE } from './suite.ts'
import type { Goal, Target } from './targets.ts'

export interface Verdict {
  readonly verdict: 'reached' | 'not reached' | 'not exercised'
  readonly violations: number
  /** What was counted, in the order of the goals. */
  readonly tried: readonly string[]
}

export function verdictOf({ goals }: Target, run: readonly SuiteEvidence[]): Verdict {
  const found = goals.map((goal) => reachedBy(goal, run))
  const violations = new Set(goals.flatMap((goal) => evidenceOf(goal, run)))
  const missing = found.some(({ suites }) => suites === 0)
  return {
    verdict: missing ? 'not exercised' : found.every(({ isReached }) => isReached) ? 'reached' : 'not reached',
    violations: [...violations].reduce((sum, { figures }) => sum + (figures.violations ?? 0), 0),
    tried: [...new Set(found.map(({ text }) => text))],
  }
}

/** A suite belongs to a goal by its name up to the colon, or by the words that it begins with. */
function evidenceOf({ suite }: Goal, run: readonly SuiteEvidence[]): readonly SuiteEvidence[] {
  return run.filter(({ suite: name }) => name === suite || name.startsWith(`${suite}:`))
}

function reachedBy(goal: Goal, run: readonly SuiteEvidence[]) {
  const { count, over, least, suite } = goal
  const evidence = evidenceOf(goal, run)
  const counts = evidence.map(({ figures }) => figures[count] ?? 0)
  const sum = counts.reduce((total, each) => total + each, 0)
  const shown = over === 'sum' ? sum : Math.min(...counts)
  const needed = evidence.map(({ figures }) => (typeof least === 'number' ? least : (figures[least] ?? Number.NaN)))
  const isReached =
    over === 'sum'
      ? sum >= (needed[0] ?? Number.NaN)
      : evidence.length >= over.each && counts.every((each, index) => each >= (needed[index] ?? Number.NaN))
  const amount = evidence.length === 0 ? 'none' : shown.toLocaleString('en')
  const text = `${suite}: ${amount} ${count}${over === 'sum' ? '' : `, or more, on each of ${evidence.length}`}`
  return { suites: evidence.length, isReached, text }
}

/** The scale of a run: the least that any of its suites had. */
export function scaleOf(run: readonly SuiteEvidence[]): number {
  return run.length === 0 ? 0 : Math.min(...run.map(({ scale }) => scale))
}

export function isWhole(run: readonly SuiteEvidence[]): boolean {
  return scaleOf(run) >= WHOLE_SCALE
}
