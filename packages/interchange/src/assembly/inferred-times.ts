import type { SeqRange } from '@session-persistence/core'

/** How many ranges one note lists. */
const RANGES_MAX = 1000

/** Seqs of events whose records had no time of their own, until they are noted in the log. */
export class InferredTimes {
  #ranges: [number, number][] = []

  get isFull(): boolean {
    return this.#ranges.length >= RANGES_MAX
  }

  /** Seqs come in order. */
  add(seq: number): void {
    const last = this.#ranges.at(-1)
    if (last !== undefined && last[1] + 1 === seq) last[1] = seq
    else this.#ranges.push([seq, seq])
  }

  /** What was added since the last call. */
  take(): readonly SeqRange[] {
    const ranges = this.#ranges
    this.#ranges = []
    return ranges
  }
}
