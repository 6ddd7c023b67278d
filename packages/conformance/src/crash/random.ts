import { seededRandom } from '../seeded-random.ts'

/** Seeded pseudo-random integers: the same seed gives the same run everywhere. */
export class Random {
  readonly seed: number
  readonly #random: () => number

  constructor(seed: number) {
    this.seed = seed
    this.#random = seededRandom(seed)
  }

  /** A 32-bit integer. */
  next(): number {
    return this.#random() * 2 ** 32
  }

  /** An integer from 0, less than `end`. */
  below(end: number): number {
    return Math.floor(this.#random() * end)
  }

  pick<T>(from: readonly T[]): T {
    const found = from[this.below(from.length)]
    if (found === undefined) throw new Error('nothing to pick from')
    return found
  }

  bytes(length: number): Buffer {
    const found = Buffer.alloc(length)
    for (let at = 0; at < length; at++) found[at] = this.next() & 0xff
    return found
  }
}
