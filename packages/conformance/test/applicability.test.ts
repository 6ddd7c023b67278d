// What a backend does not declare is not left out of a run: for each level of each capability some clause is tried.
import { describe, expect, it } from 'vitest'
import { appliesTo, notApplicable } from '../src/applicability.ts'
import { CAPABILITY_LEVELS } from '../src/capability-levels.ts'
import { ALL_CASES } from '../src/cases/all-cases.ts'
import { formatReport } from '../src/report/text-report.ts'
import { runConformance } from '../src/run-conformance.ts'
import { memoryHarness } from './memory-harness.ts'

const STRONGEST = {
  durability: 'power',
  exclusion: 'host',
  integrity: 'checksum',
  follow: 'host',
  repair: 'salvage',
} as const
const WEAKEST = {
  durability: 'memory',
  exclusion: 'medium',
  integrity: 'none',
  follow: 'medium',
  repair: 'none',
} as const

describe('clauses about capabilities', () => {
  for (const [capability, levels] of Object.entries(CAPABILITY_LEVELS)) {
    for (const level of levels) {
      it(`observe ${capability} '${level}'`, () => {
        const declared = { ...STRONGEST, [capability]: level }
        const observing = ALL_CASES.filter(
          ({ observes, needs }) => observes === capability && appliesTo(needs, declared),
        )
        expect(observing.map(({ id }) => id)).not.toEqual([])
      })
    }
  }

  it('name the clause that applies instead', () => {
    const memory = ALL_CASES.find(({ id }) => id === 'CAP-7')
    if (memory === undefined) throw new Error('no such clause')
    expect(notApplicable(memory, STRONGEST, ALL_CASES)).toBe("says nothing of durability 'power'; CAP-4 does")
    expect(notApplicable(memory, WEAKEST, ALL_CASES)).toBeUndefined()
  })
})

describe('a clause that does not apply', () => {
  it('has a count of its own, and is not skipped', async () => {
    const withoutRecords = {
      ...memoryHarness,
      createMedium: async () => ({ ...(await memoryHarness.createMedium()), files: () => ['/nowhere/at/all'] }),
    }
    const report = await runConformance(withoutRecords, { ids: ['CAP-2', 'CORRUPT-2'] })
    expect([report.outcome, report.counts]).toEqual([
      'conforms',
      { passed: 1, failed: 0, skipped: 0, notApplicable: 1 },
    ])
    const text = formatReport(report)
    expect(text).toContain("not applicable 1, says nothing of integrity 'none'; CAP-10 does: CORRUPT-2")
    expect(text).toMatch(/\n1 passed, 0 failed, 0 skipped$/)
  })

  it('is no run: a report with nothing else says so', async () => {
    const report = await runConformance(
      {
        ...memoryHarness,
        createMedium: async () => ({ ...(await memoryHarness.createMedium()), files: () => ['/nowhere/at/all'] }),
      },
      { ids: ['CORRUPT-2'] },
    )
    expect(report.outcome).toBe('nothing-ran')
  })
})
