import type { SeqRange } from '@session-persistence/core'

/** Ascending inclusive ranges that hold exactly these seqs. */
export function seqRanges(seqs: Iterable<number>): SeqRange[] {
  const sorted = [...new Set(seqs)].sort((a, b) => a - b)
  const ranges: [number, number][] = []
  for (const seq of sorted) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] + 1 === seq) last[1] = seq
    else ranges.push([seq, seq])
  }
  return ranges
}
