// Proves that a verdict is given only where the interval allows one.
import { describe, expect, it } from 'vitest'
import { type Estimate, estimate, exactly } from '../src/statistics/estimate.ts'
import { verdictOf } from '../src/statistics/verdict.ts'

const measured = (median: number, low: number, high: number, spread = 0.05): Estimate => ({
  median,
  low,
  high,
  max: high * 2,
  spread,
  samples: 21,
})

describe('verdictOf', () => {
  it('says reached when the whole interval is within the goal, the bound included', () => {
    expect(verdictOf(measured(1.1, 1.0, 1.35), 1.35)).toEqual({ kind: 'reached' })
    expect(verdictOf(exactly(0), 0)).toEqual({ kind: 'reached' })
  })

  it('says by how much when the whole interval is over the goal', () => {
    expect(verdictOf(measured(1.5, 1.4, 1.6), 1)).toEqual({ kind: 'missed', by: 0.5 })
  })

  it('says neither when the goal lies within the interval', () => {
    expect(verdictOf(measured(1, 0.95, 1.05), 1)).toEqual({ kind: 'unclear', why: 'close' })
    expect(verdictOf(measured(1, 0.5, 2), 1)).toEqual({ kind: 'unclear', why: 'noisy' })
  })

  it('does not call a goal missed on samples that are all over the place', () => {
    expect(verdictOf(estimate([1.1, 2, 9, 30, 90, 200, 1000]), 1)).toEqual({ kind: 'unclear', why: 'noisy' })
  })

  it('still says reached when even the largest sample is within the goal', () => {
    expect(verdictOf(measured(0.01, 0.001, 0.05, 3), 1)).toEqual({ kind: 'reached' })
    expect(verdictOf(measured(0.01, 0.001, 0.6, 3), 1)).toEqual({ kind: 'unclear', why: 'noisy' })
  })

  it('gives none on fewer samples than five, and one on what was counted', () => {
    expect(verdictOf(estimate([0.5, 0.5, 0.5, 0.5]), 1)).toEqual({ kind: 'unclear', why: 'few' })
    expect(verdictOf(estimate([0.5, 0.5, 0.5, 0.5, 0.5]), 1)).toEqual({ kind: 'reached' })
    expect(verdictOf(exactly(2), 1)).toEqual({ kind: 'missed', by: 1 })
  })

  it('gives none where nothing was promised', () => {
    expect(verdictOf(measured(1, 1, 1), undefined)).toEqual({ kind: 'none' })
  })
})
