// One adapter serves vitest, node:test and jest-shaped runners: a test a clause, skips through the runner where it can.
import { describe, expect, it } from 'vitest'
import { ALL_CASES } from '../src/cases/all-cases.ts'
import { describeConformance } from '../src/describe-conformance.ts'
import { LOGIC_MUTANTS } from '../src/mutants/all-mutants.ts'
import { mutantHarness } from '../src/mutants/mutant.ts'
import { memoryHarness } from './memory-harness.ts'

type Body = (...context: unknown[]) => Promise<void>

/** What a runner would have been given. */
function registered(
  harness: typeof memoryHarness,
  options = {},
): { readonly names: string[]; readonly bodies: Body[] } {
  const [names, bodies]: [string[], Body[]] = [[], []]
  const runner = {
    describe: (_: string, body: () => void) => body(),
    it: (name: string, body: Body) => {
      names.push(name)
      bodies.push(body)
    },
  }
  describeConformance(harness, runner, options)
  return { names, bodies }
}

describe('the adapter', () => {
  it('registers one test a clause and the report, none of which declares a parameter', () => {
    const { names, bodies } = registered(memoryHarness)
    expect(names).toEqual([
      ...ALL_CASES.map(({ id, level, title }) => `${id} ${level}: ${title}`),
      'the report of this run',
    ])
    // A jest-shaped runner takes a declared parameter for a callback and waits for ever.
    expect(bodies.map(({ length }) => length)).toEqual(bodies.map(() => 0))
  })

  it('skips through the context of the runner, with the reason, and does without one', async () => {
    const { bodies } = registered(memoryHarness, { ids: ['CRASH-1'] })
    const reasons: unknown[] = []
    await bodies[0]?.({ skip: (reason: unknown) => reasons.push(reason) })
    await bodies[0]?.()
    expect(reasons).toEqual(['tier process not exercised: the harness has no `module` and `openAt`'])
  })

  it('fails the test of a clause that is broken, with the clause and the difference', async () => {
    const mutant = LOGIC_MUTANTS.find(({ name }) => name === 'reverse-ignored')
    if (mutant === undefined) throw new Error('no such mutant')
    const { bodies } = registered(mutantHarness(memoryHarness, mutant), { ids: ['READ-3'] })
    await expect(bodies[0]?.()).rejects.toThrow(/^READ-3: the whole log: first difference at/)
  })

  it('fails every test of a wrong harness with the sentence, and a run in which nothing ran', async () => {
    const wrong = { name: 'wrong', createMedium: () => ({}) as never }
    const { bodies } = registered(wrong, { ids: ['READ-1', 'READ-2'] })
    for (const body of bodies.slice(0, 2)) await expect(body()).rejects.toThrow('must return an object with a function')
    const { bodies: nothing } = registered(memoryHarness, { ids: ['CRASH-1'] })
    await nothing[0]?.()
    await expect(nothing.at(-1)?.()).rejects.toThrow('Not one MUST clause ran.')
  })
})
