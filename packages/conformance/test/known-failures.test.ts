// A known failure still runs: not red while it fails, red once it passes, and no level is reached over it.
import { describe, expect, it } from 'vitest'
import type { Harness } from '../src/harness.ts'
import { LOGIC_MUTANTS } from '../src/mutants/all-mutants.ts'
import { mutantHarness } from '../src/mutants/mutant.ts'
import { badgeText } from '../src/report/badge.ts'
import { EXIT_CODES } from '../src/report/conformance-report.ts'
import { formatReport } from '../src/report/text-report.ts'
import { runConformance } from '../src/run-conformance.ts'
import { memoryHarness } from './memory-harness.ts'

const ids = ['READ-2', 'READ-3']
const tracked = 'https://example.org/issues/7'

function broken(knownFailures: Readonly<Record<string, string>>): Harness {
  const mutant = LOGIC_MUTANTS.find(({ name }) => name === 'reverse-ignored')
  if (mutant === undefined) throw new Error('no such mutant')
  return { ...mutantHarness(memoryHarness, mutant), knownFailures }
}

describe('a known failure', () => {
  it('that fails is printed with its address, counted as skipped, and not red', async () => {
    const report = await runConformance(broken({ 'READ-3': tracked }), { ids })
    expect(report.results.map(({ id, status, knownFailure }) => [id, status, knownFailure])).toEqual([
      ['READ-2', 'passed', undefined],
      ['READ-3', 'known-failure', tracked],
    ])
    expect([report.outcome, EXIT_CODES[report.outcome]]).toEqual(['conforms', 0])
    expect(report.counts).toEqual({ passed: 1, failed: 0, skipped: 1, notApplicable: 0 })
    expect(formatReport(report)).toContain(`known failure READ-3, ${tracked}: the whole log: first difference`)
  })

  it('keeps the level that it is in from being reached, and stands on the badge', async () => {
    const report = await runConformance(broken({ 'READ-3': tracked }), { ids })
    expect(report.reached).toBe('none')
    expect(badgeText(report)).toBe('none, 1 known failure')
  })

  it('that passes by now is red until it is taken off the list', async () => {
    const report = await runConformance(broken({ 'READ-2': tracked, 'READ-3': tracked }), { ids })
    const fixed = report.results.find(({ id }) => id === 'READ-2')
    expect([fixed?.status, fixed?.message]).toEqual(['failed', 'passes by now: take it off `knownFailures`'])
    expect([report.outcome, EXIT_CODES[report.outcome]]).toEqual(['violations', 1])
    expect(formatReport(report)).toContain(`FAILED MUST READ-2: passes by now: take it off \`knownFailures\``)
  })

  it('is no excuse for a capability that is declared wrongly', async () => {
    const mutant = LOGIC_MUTANTS.find(({ name }) => name === 'repair-pretends')
    if (mutant === undefined) throw new Error('no such mutant')
    const harness = mutantHarness(memoryHarness, mutant)
    expect((await runConformance(harness, { ids: ['CAP-2'] })).outcome).toBe('harness-error')
    const known = { ...harness, knownFailures: { 'CAP-2': tracked } }
    expect((await runConformance(known, { ids: ['CAP-2'] })).outcome).toBe('harness-error')
  })
})
