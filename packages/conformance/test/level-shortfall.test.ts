// No level is claimed over clauses that were left out: line, page and badge say how many were tried and what unlocks the rest.
import { expect, it } from 'vitest'
import { badgeText } from '../src/report/badge.ts'
import { type CaseResult, summarize } from '../src/report/conformance-report.ts'
import { htmlReport } from '../src/report/html-report.ts'
import { formatReport } from '../src/report/text-report.ts'

function result(id: string, tier: CaseResult['tier'], parts: Partial<CaseResult> = {}): CaseResult {
  return { id, level: 'MUST', family: 'CORRUPT', tier, title: id, status: 'passed', durationMs: 1, ...parts }
}

function reportOf(...results: readonly CaseResult[]) {
  const facts = { harness: 'x', backend: undefined, seed: 1, effort: 'full', harnessError: undefined } as const
  return summarize({ ...facts, results: [result('LIFE-1', 'logic'), ...results], tierReasons: new Map() })
}

const skipped = {
  status: 'skipped',
  message: 'no file of this medium grows by appending, and it has no `records`',
} as const

it('a MUST clause that was skipped keeps its level from being reached', () => {
  const report = reportOf(
    result('CRASH-1', 'process'),
    result('CORRUPT-6', 'medium'),
    result('CORRUPT-7', 'medium', skipped),
    result('CORRUPT-9', 'medium', { status: 'not-applicable', message: 'says nothing' }),
  )
  expect([report.outcome, report.reached]).toEqual(['conforms', 'crash'])
  expect(formatReport(report)).toContain(
    'outcome: conforms; level reached: crash; medium: 1 of 2 clauses tried (add `records` to the medium)\n',
  )
  expect(htmlReport(report)).toContain(
    'Level reached: crash; medium: 1 of 2 clauses tried (add <code>records</code> to the medium).</p>',
  )
  expect(badgeText(report)).toBe('crash; medium: 1 of 2 clauses tried')
})

it('a SHOULD clause that was skipped, and a clause that does not apply, keep nothing from being reached', () => {
  const report = reportOf(
    result('CRASH-1', 'process'),
    result('CORRUPT-6', 'medium'),
    result('CORRUPT-7', 'medium', { ...skipped, level: 'SHOULD' }),
    result('CORRUPT-9', 'medium', { status: 'not-applicable', message: 'says nothing' }),
  )
  expect([report.reached, badgeText(report)]).toEqual(['medium', 'medium'])
})

it('a level in which something failed is not said to lack clauses', () => {
  const report = reportOf(
    result('CRASH-1', 'process', { status: 'failed', message: 'wrong' }),
    result('CRASH-2', 'process', skipped),
  )
  expect([report.reached, badgeText(report)]).toEqual(['core', 'failing, core reached'])
})
