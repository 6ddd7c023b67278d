// Proves that both bounds on nesting agree with a plain count, on texts and on values.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { depthExceeds, nestsDeeper } from '../../src/event/nesting-depth.ts'
import { LIMITS } from '../../src/limits.ts'
import { losslessJson, scale } from './arbitraries.ts'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

describe('nesting', () => {
  it('is told exactly for any value, limit and form', () => {
    fc.assert(
      fc.property(losslessJson(), fc.integer({ min: 0, max: 8 }), (value, limit) => {
        const json = JSON.stringify(value)
        const exceeds = depthOf(value) > limit
        expect(nestsDeeper(value, limit)).toBe(exceeds)
        expect(depthExceeds(json, limit)).toBe(exceeds)
        expect(depthExceeds(Buffer.from(json), limit)).toBe(exceeds)
      }),
      { numRuns: 1000 * scale },
    )
  })

  it.each([
    ['brackets in a text', JSON.stringify('['.repeat(5000)), false],
    ['quotes and brackets in a text', JSON.stringify('"[{'.repeat(2000)), false],
    ['backslashes before brackets', JSON.stringify('\\"[\\'.repeat(2000)), false],
    ['many shallow containers', JSON.stringify(Array.from({ length: 5000 }, () => [{}])), false],
    ['unfinished nesting', '['.repeat(5000), true],
    ['an unfinished text', `"${'['.repeat(5000)}`, false],
  ])('%s', (_, text, expected) => {
    expect(depthExceeds(text)).toBe(expected)
    expect(depthExceeds(Buffer.from(text))).toBe(expected)
  })

  it('by default allows an envelope around the deepest data', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    expect(depthExceeds(nested(LIMITS.depth + 1))).toBe(false)
    expect(depthExceeds(nested(LIMITS.depth + 2))).toBe(true)
    expect(nestsDeeper(JSON.parse(nested(LIMITS.depth + 1)))).toBe(false)
    expect(nestsDeeper(JSON.parse(nested(LIMITS.depth + 2)))).toBe(true)
  })
})
