import type { SeqRange } from './event.ts'

/** The live surface as far as ranges need it. */
export interface LiveSurface {
  /** The position of the last entry that `matches`, or -1. */
  lastIndex(matches: (entry: { readonly seq: number }) => boolean): number
}

/**
 * Where the live events named by `range` stand, as positions from `start` to before `end`; undefined when they are not
 * a run. The surface is not in the order of seqs once something was replaced, so the first seq may be the larger one.
 */
export function liveRun(
  surface: LiveSurface,
  [first, last]: SeqRange,
): { readonly start: number; readonly end: number } | undefined {
  // Looked for from the end: what is replaced or removed is mostly recent, and a compaction is rare.
  const end = surface.lastIndex((entry) => entry.seq === last)
  const start = first === last ? end : surface.lastIndex((entry) => entry.seq === first)
  return start < 0 || end < start ? undefined : { start, end: end + 1 }
}
