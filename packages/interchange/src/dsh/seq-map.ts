import type { SeqRange } from '@session-persistence/core'
import { seqRanges } from '../assembly/seq-ranges.ts'

/** One run of source seqs that were given consecutive new ones. */
interface Run {
  readonly source: number
  readonly ours: number
  length: number
}

/** From the seqs of a source to those of the imported log. A clean log needs one run. */
export class SeqMap {
  readonly #runs: Run[] = []
  /** Events that were placed later than their neighbours. */
  readonly #moved = new Map<number, number>()

  set(source: number, ours: number): void {
    const last = this.#runs.at(-1)
    if (last === undefined || source >= last.source + last.length) {
      if (last !== undefined && source === last.source + last.length && ours === last.ours + last.length) last.length++
      else this.#runs.push({ source, ours, length: 1 })
    } else this.#moved.set(source, ours)
  }

  get(source: number): number | undefined {
    const moved = this.#moved.get(source)
    if (moved !== undefined) return moved
    let low = 0
    let high = this.#runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const run = this.#runs[middle]
      if (run === undefined || run.source > source) high = middle
      else low = middle + 1
    }
    const run = this.#runs[low - 1]
    return run !== undefined && source < run.source + run.length ? run.ours + source - run.source : undefined
  }

  /** Ranges of the new seqs, and the source seqs that the log does not hold. */
  ranges(sources: readonly unknown[]): { readonly ranges: readonly SeqRange[]; readonly missing: readonly unknown[] } {
    const found: number[] = []
    const missing: unknown[] = []
    for (const source of sources) {
      const ours = typeof source === 'number' ? this.get(source) : undefined
      if (ours === undefined) missing.push(source)
      else found.push(ours)
    }
    return { ranges: seqRanges(found), missing }
  }
}
