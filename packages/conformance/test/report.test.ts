// The report is JSON, ends in the counts, hides no tier, and is the same for the same seed.
import { describe, expect, it } from 'vitest'
import { FAMILIES } from '../src/conformance-case.ts'
import { LOGIC_MUTANTS } from '../src/mutants/all-mutants.ts'
import { KILL_TABLE } from '../src/mutants/kill-table.ts'
import { mutantHarness } from '../src/mutants/mutant.ts'
import type { ConformanceReport } from '../src/report/conformance-report.ts'
import { formatReport } from '../src/report/text-report.ts'
import { runConformance } from '../src/run-conformance.ts'
import { memoryHarness } from './memory-harness.ts'

function withoutDurations(report: ConformanceReport): unknown {
  return { ...report, results: report.results.map(({ durationMs: _, ...result }) => result) }
}

describe('the report', () => {
  it('of a sound backend conforms, names what was not exercised, and counts it as skipped', async () => {
    const report = await runConformance(memoryHarness, { effort: 'quick' })
    expect(report.outcome).toBe('conforms')
    expect(report.reached).toBe('core')
    expect(report.tiers.map(({ tier, exercised }) => [tier, exercised])).toEqual([
      ['logic', true],
      ['process', false],
      ['medium', false],
      ['io', false],
      ['power', false],
    ])
    const text = formatReport(report)
    expect(text).toContain('tier process: NOT EXERCISED, the harness has no `module` and `openAt`')
    expect(text).toContain('tier medium: NOT EXERCISED, the medium has no `files`')
    const { passed, failed, skipped } = report.counts
    expect(passed + failed + skipped).toBe(report.results.length)
    expect(skipped).toBe(report.results.filter(({ tier }) => tier !== 'logic').length)
    expect(text.split('\n').at(-1)).toBe(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  })

  it('survives JSON, and is the same for the same seed', async () => {
    const options = { families: ['DATA', 'READ'], effort: 'quick', seed: 7 } as const
    const [first, second] = [await runConformance(memoryHarness, options), await runConformance(memoryHarness, options)]
    expect(JSON.parse(JSON.stringify(first))).toEqual(first)
    expect(withoutDurations(first)).toEqual(withoutDurations(second))
  })

  it('of a wrong backend names the clause, the first difference and how to repeat it', async () => {
    const mutant = LOGIC_MUTANTS.find(({ name }) => name === 'reverse-ignored')
    if (mutant === undefined) throw new Error('no such mutant')
    const report = await runConformance(mutantHarness(memoryHarness, mutant), { families: ['READ'], seed: 3 })
    expect(report.outcome).toBe('violations')
    expect(report.reached).toBe('none')
    const text = formatReport(report)
    for (const id of KILL_TABLE[mutant.name] ?? []) expect(text).toContain(`FAILED MUST ${id}: `)
    expect(text).toContain('first difference at $[0].seq: expected 35, found 0')
    expect(text).toContain('repeat       npx @session-persistence/conformance ./harness.js --id READ-3 --seed 3')
  })

  it('runs the families that it is told to', async () => {
    const report = await runConformance(memoryHarness, { families: ['FORK'], effort: 'quick' })
    expect(new Set(report.results.map(({ family }) => family))).toEqual(new Set(['FORK']))
    expect(FAMILIES).toContain('FORK')
  })
})
