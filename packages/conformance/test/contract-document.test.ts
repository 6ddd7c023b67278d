// docs/contract.md lists exactly the clauses that the kit tries, in its words.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ALL_CASES } from '../src/cases/all-cases.ts'
import { FAMILIES } from '../src/conformance-case.ts'
import { renderContract } from '../src/contract-document.ts'

const file = fileURLToPath(new URL('../../../docs/contract.md', import.meta.url))

describe('docs/contract.md', () => {
  it('lists the ids of the cases, each once, in their order', () => {
    const listed = [...readFileSync(file, 'utf8').matchAll(/^- \*\*([A-Z]+-\d+)\*\* /gm)].map(([, id]) => id)
    expect(listed).toEqual(ALL_CASES.map(({ id }) => id))
    expect(new Set(listed).size).toBe(listed.length)
  })

  it('is current; `vitest -u` writes it', async () => {
    await expect(renderContract(ALL_CASES)).toMatchFileSnapshot(file)
  })
})

describe('the cases', () => {
  it('cover every family', () => {
    for (const family of FAMILIES) {
      expect(ALL_CASES.filter((one) => one.family === family).length, family).toBeGreaterThan(3)
    }
  })

  it('have numbers that run without a gap, one sentence, a reason and a version', () => {
    for (const family of FAMILIES) {
      const ofFamily = ALL_CASES.filter((one) => one.family === family)
      expect(ofFamily.map(({ id }) => id)).toEqual(ofFamily.map((_, index) => `${family}-${index + 1}`))
    }
    for (const { id, title, why, since } of ALL_CASES) {
      expect(title, id).toMatch(/^[^\n]{20,260}\.$/)
      expect(why, id).toMatch(/^[^\n]{20,200}\.$/)
      expect(since, id).toMatch(/^\d+\.\d+$/)
    }
  })
})
