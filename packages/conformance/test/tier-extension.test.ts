// More tiers plug in: their cases run on the same media, stand in the same report, and are never passed where they cannot run.
import { describe, expect, it } from 'vitest'
import type { ConformanceCase } from '../src/conformance-case.ts'
import { expectThat } from '../src/expectation.ts'
import { formatReport } from '../src/report/text-report.ts'
import { runConformance } from '../src/run-conformance.ts'
import type { TierExtension } from '../src/tier-extension.ts'
import { memoryHarness } from './memory-harness.ts'

function ioCase(id: string, run: ConformanceCase['run']): ConformanceCase {
  return { id, level: 'MUST', family: 'IO', title: 'A clause.', why: 'x', since: '0.1', needs: { tier: 'io' }, run }
}

const cases: readonly ConformanceCase[] = [
  ioCase('IO-1', async (context) =>
    expectThat((await (await context.open()).list()).sessions.length === 0, 'not empty'),
  ),
  ioCase('IO-2', async () => expectThat(false, 'always')),
]

describe('a tier of an extension', () => {
  it('runs after the built-in cases, and is in the report', async () => {
    const extension: TierExtension = { tier: 'io', cases }
    const report = await runConformance(memoryHarness, { ids: ['IO-1', 'IO-2', 'CAP-1'], extensions: [extension] })
    expect(report.results.map(({ id, tier, status }) => [id, tier, status])).toEqual([
      ['CAP-1', 'logic', 'passed'],
      ['IO-1', 'io', 'passed'],
      ['IO-2', 'io', 'failed'],
    ])
    expect(report.tiers).toContainEqual({ tier: 'io', exercised: true })
    expect([report.outcome, report.reached]).toEqual(['violations', 'core'])
  })

  it('that cannot run here is printed as not exercised, with the reason', async () => {
    const extension: TierExtension = { tier: 'io', cases, unavailable: () => 'strace is missing' }
    const report = await runConformance(memoryHarness, { families: ['IO'], extensions: [extension] })
    expect([report.outcome, report.counts]).toEqual([
      'nothing-ran',
      { passed: 0, failed: 0, skipped: 2, notApplicable: 0 },
    ])
    expect(formatReport(report)).toContain('tier io: NOT EXERCISED, strace is missing')
  })

  it.each([
    ['An extension brings tier disk: it must be io or power.', { tier: 'disk', cases }],
    ['The extension for tier io has no list `cases`.', { tier: 'io' }],
    ['ids are IO-1, IO-2, ... or POWER-1, POWER-2, ...', { tier: 'io', cases: [{ ...cases[0], id: 'io' }] }],
    ['must need tier power and have a function `run`.', { tier: 'power', cases }],
    ['Two cases of extensions have the id IO-1.', { tier: 'io', cases: [cases[0], cases[0]] }],
  ])('with a mistake is an error of the harness: %s', async (sentence, extension) => {
    const report = await runConformance(memoryHarness, { extensions: [extension as unknown as TierExtension] })
    expect([report.outcome, report.reached]).toEqual(['harness-error', 'none'])
    expect(report.harnessError).toContain(sentence)
  })

  it('that nobody brought has no clauses to choose', async () => {
    const report = await runConformance(memoryHarness, { ids: ['IO-1'] })
    expect(report.harnessError).toBe('There is no clause IO-1; docs/contract.md lists them.')
  })
})
