/** What a set of samples says: the median, and the interval that holds the true median with 95 % confidence. */
export interface Estimate {
  readonly median: number
  /** Bounds of the 95 % interval of the median, from order statistics: no assumption about the distribution. */
  readonly low: number
  readonly high: number
  /** The largest sample. */
  readonly max: number
  /** Distance between the quartiles, as a share of the median. */
  readonly spread: number
  readonly samples: number
}

/** Fewer samples than this have no 95 % interval: half of the probability mass at each end is already above 2.5 %. */
const INTERVAL_SAMPLES_MIN = 6

/** An exact number that was counted or read once. */
export function exactly(value: number): Estimate {
  return { median: value, low: value, high: value, max: value, spread: 0, samples: 1 }
}

/** Throws on no samples and on samples that are not finite: a broken measurement must not look like a number. */
export function estimate(samples: readonly number[]): Estimate {
  if (samples.length === 0) throw new RangeError('an estimate needs samples')
  if (!samples.every(Number.isFinite)) throw new RangeError('a sample is not a finite number')
  const sorted = [...samples].sort((a, b) => a - b)
  const median = quantile(sorted, 0.5)
  const cut = sorted.length < INTERVAL_SAMPLES_MIN ? 0 : intervalCut(sorted.length)
  return {
    median,
    low: sorted[cut] ?? median,
    high: sorted[sorted.length - 1 - cut] ?? median,
    max: sorted.at(-1) ?? median,
    spread: median === 0 ? 0 : (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / Math.abs(median),
    samples: sorted.length,
  }
}

/** The `share` quantile of ascending samples, interpolated between neighbours. */
export function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

/**
 * Samples to leave out at each end, so that the rest still spans the median with at least 95 %: the most heads that a
 * fair coin thrown `count` times shows, or fewer, with a probability of at most 2.5 %.
 */
function intervalCut(count: number): number {
  let probability = 0.5 ** count
  let cumulative = 0
  for (let heads = 0; heads < count; heads++) {
    cumulative += probability
    if (cumulative > 0.025) return Math.max(0, heads - 1)
    probability = (probability * (count - heads)) / (heads + 1)
  }
  return 0
}

/** The ratios round by round: both were measured in the same rounds, so what slowed a round slowed both. */
export function ratios(samples: readonly number[], reference: readonly number[]): number[] {
  if (samples.length !== reference.length) throw new RangeError('a ratio needs as many samples as its reference')
  return samples.map((sample, round) => sample / (reference[round] ?? Number.NaN))
}
