// Every clause can fail: the table of mutants leaves no MUST clause without a kill, and its document is current.
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ALL_CASES } from '../src/cases/all-cases.ts'
import { ALL_MUTANTS } from '../src/mutants/all-mutants.ts'
import { killersOf, renderKillMatrix } from '../src/mutants/kill-matrix.ts'
import { KILL_TABLE } from '../src/mutants/kill-table.ts'

describe('the kill matrix', () => {
  it('has a kill for every clause', () => {
    const withoutKill = ALL_CASES.filter(({ id }) => killersOf(id).length === 0).map(({ id }) => id)
    console.log(ALL_CASES.map(({ id }) => `${id.padEnd(14)} ${killersOf(id).join(' ')}`).join('\n'))
    expect(withoutKill).toEqual([])
  })

  it('lists every mutant once, killed by the clause that it is aimed at', () => {
    expect(Object.keys(KILL_TABLE)).toEqual(ALL_MUTANTS.map(([, { name }]) => name))
    for (const [, { name, aimedAt }] of ALL_MUTANTS) expect(KILL_TABLE[name], name).toContain(aimedAt)
  })

  it('names only clauses of the tier that the mutant is tried against', () => {
    const tiers = new Map(ALL_CASES.map(({ id, needs }) => [id, needs.tier]))
    for (const [tier, { name }] of ALL_MUTANTS) {
      for (const id of KILL_TABLE[name] ?? []) expect(tiers.get(id), `${name}: ${id}`).toBe(tier)
    }
  })

  it('is current in docs/conformance-kill-matrix.md; `vitest -u` writes it', async () => {
    const file = fileURLToPath(new URL('../../../docs/conformance-kill-matrix.md', import.meta.url))
    await expect(renderKillMatrix(ALL_CASES)).toMatchFileSnapshot(file)
  })
})
