/**
 * Rounds of short samples. In every round each case is sampled once; the order changes from round to round, so that a
 * slow moment, a warm cache or a garbage collection does not always hit the same case.
 */
export interface Case {
  readonly name: string
  /** One sample, in the unit of the comparison. Measures itself, so that preparation does not count. */
  sample(round: number): Promise<number> | number
}

export interface RoundPlan {
  /** Rounds that count. */
  readonly rounds: number
  /** Rounds before them that do not. */
  readonly warmUp: number
  readonly signal?: AbortSignal | undefined
}

/** Samples by case name, one a round, in the order of the rounds. */
export type Samples = ReadonlyMap<string, readonly number[]>

export async function interleave(cases: readonly Case[], plan: RoundPlan): Promise<Samples> {
  const samples = new Map<string, number[]>(cases.map(({ name }) => [name, []]))
  if (samples.size !== cases.length) throw new RangeError('two cases have one name')
  for (let round = 0; round < plan.warmUp + plan.rounds; round++) {
    for (const one of orderOf(cases, round)) {
      plan.signal?.throwIfAborted()
      const value = await one.sample(round)
      if (round >= plan.warmUp) samples.get(one.name)?.push(value)
    }
  }
  return samples
}

/** Rotated by one every two rounds, and backwards in every other round, so that nobody always has the same neighbour. */
export function orderOf<T>(cases: readonly T[], round: number): readonly T[] {
  const start = cases.length === 0 ? 0 : Math.floor(round / 2) % cases.length
  const rotated = [...cases.slice(start), ...cases.slice(0, start)]
  return round % 2 === 0 ? rotated : rotated.reverse()
}

/** The samples of a case; throws when there is none of this name. */
export function samplesOf(samples: Samples, name: string): readonly number[] {
  const found = samples.get(name)
  if (found === undefined) throw new RangeError(`no case is named ${name}`)
  return found
}
