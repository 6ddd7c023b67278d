// Each backend that is wrong in its bytes or between processes fails exactly the clauses that the kill table says.
import { ALL_CASES, runConformance } from '@session-persistence/conformance'
import { ALL_MUTANTS, KILL_TABLE, mutantHarness, SOMETIMES_KILLED } from '@session-persistence/conformance/mutants'
import { describe, expect, it } from 'vitest'
import { harness } from './conformance-harness.mjs'

/**
 * Below scale 10 a mutant is tried against the families that it must fail clauses of, and a process mutant, which takes
 * longest, against these clauses only.
 */
const scale = Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? 1)
const exact = scale >= 10
/** Below scale 5 every third of the process mutants, and all others. */
const stride = scale >= 5 ? 1 : 3

describe('mutants of the plain JSONL backend', () => {
  for (const [index, [tier, mutant]] of ALL_MUTANTS.entries()) {
    if (tier === 'logic' || (tier === 'process' && index % stride !== 0)) continue
    const expected = KILL_TABLE[mutant.name] ?? []
    it(`${mutant.name}: ${mutant.wrong}`, { timeout: 900_000 }, async () => {
      const families = new Set(ALL_CASES.filter(({ id }) => expected.includes(id)).map(({ family }) => family))
      const ids = ALL_CASES.filter(({ needs, family }) => needs.tier === tier && (exact || families.has(family)))
      const module = new URL(`./conformance-mutant.mjs?mutant=${mutant.name}`, import.meta.url).href
      const report = await runConformance(mutantHarness(harness, mutant, module), {
        ids: tier === 'medium' || exact ? ids.map(({ id }) => id) : expected,
        // No deadline but the cases' own: every kill here is something that was observed, none that nothing happened,
        // so that a busy machine takes longer and finds the same.
        effort: 'quick',
      })
      const waited = report.results.filter(({ message }) => message?.startsWith('nothing happened within') === true)
      expect(waited.map(({ id }) => id)).toEqual([])
      const timed = SOMETIMES_KILLED[mutant.name] ?? []
      const failed = report.results.filter(({ id, status }) => status === 'failed' && !timed.includes(id))
      expect(failed.map(({ id }) => id)).toEqual(expected)
      // A false declaration alone is no verdict; anything else that fails is one.
      const isViolated = ALL_CASES.some(({ id, observes }) => {
        return observes === undefined && report.results.some((one) => one.id === id && one.status === 'failed')
      })
      expect(report.outcome).toBe(isViolated ? 'violations' : 'harness-error')
    })
  }
})
