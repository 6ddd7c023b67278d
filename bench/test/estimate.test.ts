// Proves that an estimate is the median with an interval that covers the true median at least 95 % of the time.
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../src/input/seeded-random.ts'
import { estimate, exactly, ratios } from '../src/statistics/estimate.ts'

/** Probability that the interval between the order statistics `cut` and `count - 1 - cut` misses the median. */
function missProbability(count: number, cut: number): number {
  let sequences = 0
  for (let outcome = 0; outcome < 2 ** count; outcome++) {
    let heads = 0
    for (let bit = 0; bit < count; bit++) heads += (outcome >> bit) & 1
    if (heads <= cut || heads >= count - cut) sequences++
  }
  return sequences / 2 ** count
}

describe('estimate', () => {
  it('gives the middle sample, or the mean of the two in the middle', () => {
    expect(estimate([5, 1, 9]).median).toBe(5)
    expect(estimate([4, 1, 9, 6]).median).toBe(5)
  })

  it.each([6, 7, 9, 12, 15, 17])('takes the narrowest interval of %i samples that misses at most 5 %%', (count) => {
    const samples = Array.from({ length: count }, (_, index) => index)
    const { low: cut, high } = estimate(samples)
    expect(high).toBe(count - 1 - cut)
    expect(missProbability(count, cut)).toBeLessThanOrEqual(0.05)
    expect(missProbability(count, cut + 1)).toBeGreaterThan(0.05)
  })

  it('covers the true median of a skewed distribution in at least 95 % of seeded trials', () => {
    const random = seededRandom(1)
    const trials = 2000
    let covered = 0
    for (let trial = 0; trial < trials; trial++) {
      const { low, high } = estimate(Array.from({ length: 21 }, () => -Math.log(1 - random())))
      if (low <= Math.LN2 && Math.LN2 <= high) covered++
    }
    expect(covered / trials).toBeGreaterThanOrEqual(0.95)
  })

  it('spans everything where the samples are too few for an interval', () => {
    expect(estimate([3, 1, 2, 9, 4])).toMatchObject({ low: 1, high: 9, samples: 5 })
  })

  it('tells the distance of the quartiles as a share of the median', () => {
    expect(estimate([8, 9, 10, 11, 12]).spread).toBeCloseTo(0.2)
    expect(exactly(7).spread).toBe(0)
  })

  it('refuses what is not a measurement', () => {
    expect(() => estimate([])).toThrow(RangeError)
    expect(() => estimate([1, Number.NaN])).toThrow(RangeError)
    expect(() => estimate([1, Number.POSITIVE_INFINITY])).toThrow(RangeError)
  })
})

describe('ratios', () => {
  it('divides round by round, so that a slow round cancels out', () => {
    expect(ratios([2, 40, 6], [1, 20, 3])).toEqual([2, 2, 2])
  })

  it('refuses samples of different rounds', () => {
    expect(() => ratios([1, 2], [1])).toThrow(RangeError)
  })
})
