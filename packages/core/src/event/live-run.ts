import type { SeqRange } from './event.ts'

/** The live surface as far as ranges need it. */
export interface LiveSurface {
  /** The position of the one entry that `matches`, or -1. */
  position(matches: (entry: { readonly seq: number }) => boolean): number
}

/**
 * Where the live events named by `range` stand, as positions from `start` to before `end`; undefined when they are not
 * a run. The surface is not in the order of seqs once something was replaced, so the first seq may be the larger one.
 */
export function liveRun(
  surface: LiveSurface,
  [first, last]: SeqRange,
): { readonly start: number; readonly end: number } | undefined {
  const end = surface.position((entry) => entry.seq === last)
  const start = first === last ? end : surface.position((entry) => entry.seq === first)
  return start < 0 || end < start ? undefined : { start, end: end + 1 }
}
