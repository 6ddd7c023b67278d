// Each wrong in-memory backend fails exactly the clauses that the kill table says.
import { beforeAll, describe, expect, it } from 'vitest'
import { ALL_CASES } from '../src/cases/all-cases.ts'
import { ALL_MUTANTS } from '../src/mutants/all-mutants.ts'
import { KILL_TABLE } from '../src/mutants/kill-table.ts'
import { mutantHarness } from '../src/mutants/mutant.ts'
import { runConformance } from '../src/run-conformance.ts'
import { memoryHarness } from './memory-harness.ts'

/** Below scale 5 a mutant is tried against the families that it must fail clauses of. */
const exact = Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? 1) >= 5

/** Milliseconds: far more than the sound backend takes for any case on this machine, as busy as it is now. */
let caseDeadlineMs = 0

beforeAll(async () => {
  const { results } = await runConformance(memoryHarness, { effort: 'quick' })
  caseDeadlineMs = 10 * Math.max(500, ...results.map(({ durationMs }) => durationMs))
})

describe('mutants of the in-memory backend', () => {
  for (const [tier, mutant] of ALL_MUTANTS) {
    if (tier !== 'logic') continue
    it(`${mutant.name}: ${mutant.wrong}`, async () => {
      const expected = KILL_TABLE[mutant.name] ?? []
      const families = ALL_CASES.filter(({ id }) => expected.includes(id)).map(({ family }) => family)
      // What never settles in a mutant is what it is killed for; waiting long proves nothing more.
      const options = { effort: 'quick', caseDeadlineMs, ...(exact ? {} : { families }) } as const
      const report = await runConformance(mutantHarness(memoryHarness, mutant), options)
      const failed = report.results.filter(({ status }) => status === 'failed')
      expect(failed.map(({ id }) => id)).toEqual(expected)
      // A false declaration alone is no verdict; anything else that fails is one.
      const isViolated = ALL_CASES.some(({ id, observes }) => {
        return observes === undefined && report.results.some((one) => one.id === id && one.status === 'failed')
      })
      expect(report.outcome).toBe(isViolated ? 'violations' : 'harness-error')
    })
  }
})
