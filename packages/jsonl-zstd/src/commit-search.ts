/** Finds units by their commit records: nothing is decoded, and hardly anything of the frames is read. */
import type { UnitSpan, Window } from '@session-persistence/file-log'
import { COMMIT_BYTES, COMMIT_START, type Commit, readCommit } from './commit-record.ts'

/** Content of one page: about 14,000 small events. One frame may be larger. */
export const PAGE_CONTENT_BYTES: number = 512 * 1024

const FIRST_BYTE = COMMIT_START[0] ?? 0

/** A record in place. */
export interface PlacedCommit {
  readonly commit: Commit
  /** Offset of the record. */
  readonly at: number
  /** Offset of the frame that it belongs to. */
  readonly frame: number
  readonly end: number
}

export function placedCommit({ bytes, offset }: Window, at: number, salt: number): PlacedCommit | undefined {
  const commit = readCommit(bytes, at - offset, salt, at)
  if (commit === undefined || commit.events === 0) return undefined
  return { commit, at, frame: at - commit.frameBytes, end: at + COMMIT_BYTES }
}

/** The first record that starts in the window at or behind `from`. */
export function firstCommit(window: Window, from: number, salt: number): PlacedCommit | undefined {
  const { bytes, offset } = window
  for (let at = Math.max(0, from - offset); ; at++) {
    at = bytes.indexOf(COMMIT_START, at)
    if (at === -1) return undefined
    const found = placedCommit(window, offset + at, salt)
    if (found !== undefined) return found
  }
}

/** The last record that ends in the window at or before `end`. */
export function lastCommit(window: Window, end: number, salt: number): PlacedCommit | undefined {
  const { bytes, offset } = window
  for (let at = end - offset - COMMIT_BYTES; at >= 0; at--) {
    // One byte is looked for ten times as fast as eight: a file that was filled up with zeros must cost little.
    at = bytes.lastIndexOf(FIRST_BYTE, at)
    if (at === -1) return undefined
    const found = placedCommit(window, offset + at, salt)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * See `LogDialect.findUnit`: where the first unit at or behind `from` starts, told by the first record there. When that
 * record's own frame starts before `from`, the next unit starts where the record ends.
 */
export function findUnitByCommit(window: Window, from: number, salt: number, dataStart: number): UnitSpan | undefined {
  const found = firstCommit(window, from, salt)
  if (found === undefined) return undefined
  const { commit, frame, end } = found
  const next = commit.firstSeq + commit.events
  if (frame >= from && frame >= dataStart) return { offset: frame, end, firstSeq: commit.firstSeq, lastSeq: next - 1 }
  const within = frame < dataStart ? {} : { within: { offset: frame, firstSeq: commit.firstSeq } }
  return { offset: end, end, firstSeq: next, lastSeq: next - 1, ...within }
}

/** See `LogDialect.pageStart`: as many units as a page holds, at least one. */
export function pageStartByCommit(window: Window, salt: number): number | undefined {
  const { bytes, offset } = window
  let start = offset + bytes.length
  let content = 0
  for (;;) {
    const found = placedCommit(window, start - COMMIT_BYTES, salt)
    if (found === undefined || found.frame < offset) break
    content += found.commit.contentBytes
    if (start < offset + bytes.length && content > PAGE_CONTENT_BYTES) break
    start = found.frame
  }
  return start < offset + bytes.length ? start : undefined
}

/** See `LogDialect.firstUnitStart`: from record to record back from the end of the window. */
export function firstUnitStartByCommit(window: Window, salt: number): number | undefined {
  const { bytes, offset } = window
  let start = offset + bytes.length
  for (;;) {
    const found = placedCommit(window, start - COMMIT_BYTES, salt)
    if (found === undefined || found.frame <= offset) break
    start = found.frame
  }
  if (start < offset + bytes.length) return start
  // Damage at the end, or one unit longer than the window: the first record says where the next unit starts.
  const found = firstCommit(window, offset, salt)
  if (found === undefined) return undefined
  if (found.frame > offset) return found.frame
  return found.end < offset + bytes.length ? found.end : undefined
}
