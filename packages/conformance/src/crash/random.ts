/** Seeded pseudo-random numbers (mulberry32): the same seed gives the same run everywhere. */
export class Random {
  readonly seed: number
  #state: number

  constructor(seed: number) {
    this.seed = seed
    this.#state = seed >>> 0
  }

  /** A 32-bit integer. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }

  /** An integer from 0, less than `end`. */
  below(end: number): number {
    return Math.floor((this.next() / 2 ** 32) * end)
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
