// Damage is tried at every place of what is small, and at both ends, the ends of blocks and seeded places of what is large.
import { describe, expect, it } from 'vitest'
import type { CaseContext } from '../src/conformance-case.ts'
import { places } from '../src/places.ts'
import { seededRandom } from '../src/seeded-random.ts'

function contextOf(effort: 'quick' | 'full', seed = 1): CaseContext {
  return { effort, random: seededRandom(seed) } as unknown as CaseContext
}

describe('the places to damage', () => {
  it('are all there are, in a full run of a small log', () => {
    expect(places(contextOf('full'), 2_000)).toEqual(Array.from({ length: 2_000 }, (_, place) => place))
    expect(places(contextOf('full'), 0)).toEqual([])
    expect(places(contextOf('quick'), 160)).toHaveLength(160)
  })

  it('are bounded, distinct, in order, and include both ends and the ends of blocks', () => {
    const chosen = places(contextOf('full'), 300_000)
    expect(chosen).toHaveLength(4_096)
    expect(chosen).toEqual([...new Set(chosen)].sort((a, b) => a - b))
    expect(chosen).toEqual(expect.arrayContaining([0, 1, 4_095, 4_096, 8_191, 8_192, 299_999]))
    expect(places(contextOf('quick'), 300_000)).toHaveLength(160)
  })

  it('are the same for the same seed', () => {
    expect(places(contextOf('quick', 3), 50_000)).toEqual(places(contextOf('quick', 3), 50_000))
    expect(places(contextOf('quick', 3), 50_000)).not.toEqual(places(contextOf('quick', 4), 50_000))
  })
})
