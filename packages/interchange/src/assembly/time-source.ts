/** A moment for an event, and whether the source gave it. */
export interface Moment {
  readonly time: number
  /** True when the source has none there: it is that of the record before. */
  readonly inferred: boolean
}

/** Times of records in order; one that is missing or no time takes the previous record's. */
export class TimeSource {
  #last: number

  /** @param first what records before the first time get */
  constructor(first: number) {
    this.#last = first
  }

  /** The moment of a record that says `time`, in Unix milliseconds. */
  at(time: unknown): Moment {
    if (!Number.isSafeInteger(time)) return { time: this.#last, inferred: true }
    this.#last = time as number
    return { time: this.#last, inferred: false }
  }

  /** The moment of something that has no record of its own. */
  now(): Moment {
    return { time: this.#last, inferred: false }
  }
}
