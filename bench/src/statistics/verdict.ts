import type { Estimate } from './estimate.ts'

/** What may be said about a measured number and the goal that it should not exceed. */
export type Verdict =
  | { readonly kind: 'reached' }
  /** `by`: how far the median is over the goal, as a share of the goal. */
  | { readonly kind: 'missed'; readonly by: number }
  /** The interval reaches over the goal on both sides, or the samples are too far apart or too few to say anything. */
  | { readonly kind: 'unclear'; readonly why: 'noisy' | 'close' | 'few' }
  /** Nothing was promised. */
  | { readonly kind: 'none' }

/** Quartiles further apart than this share of the median: the machine was busy with something else. */
export const SPREAD_MAX = 0.5

/** Fewer samples than this allow no verdict; what was counted has one, which is exact. */
export const SAMPLES_MIN = 5

/** An interval this close around the goal is a matter of luck, not of noise. */
const CLOSE = 0.1

/**
 * A goal is an upper bound. Reached: the whole interval is within it. Missed: all of it is over it. Samples that are
 * too far apart allow neither, unless even the largest one is within the goal.
 */
export function verdictOf(measured: Estimate, goal: number | undefined): Verdict {
  if (goal === undefined) return { kind: 'none' }
  const { median, low, high, max, spread, samples } = measured
  if (samples > 1 && samples < SAMPLES_MIN) return { kind: 'unclear', why: 'few' }
  if (max <= goal) return { kind: 'reached' }
  if (spread > SPREAD_MAX) return { kind: 'unclear', why: 'noisy' }
  if (high <= goal) return { kind: 'reached' }
  if (low > goal) return { kind: 'missed', by: goal === 0 ? median : median / goal - 1 }
  return { kind: 'unclear', why: (high - low) / median <= 2 * CLOSE ? 'close' : 'noisy' }
}
