/** Finds the units of one page and verifies them, without decoding any. Pure over bytes. */
import type { Damage, ScanOptions, ScanPosition, Window } from '@session-persistence/file-log'
import { PAGE_CONTENT_BYTES } from './commit-search.ts'
import { type FrameUnit, readUnit } from './frame-unit.ts'

/** Damage, but for where it is. */
export type Wrong = Omit<Damage, 'offset'>

export interface FoundUnits {
  /** Units that hold records in range, next to each other. */
  readonly wanted: readonly FrameUnit[]
  /** Index behind the last unit found. */
  readonly end: number
  readonly position: ScanPosition
  /** Whether more of the window is left out only because the page is large enough. */
  readonly full: boolean
  readonly damage?: Wrong
}

/** Verified units from the start of the window, as many as make one page. */
export function findUnits(
  salt: number,
  { bytes, offset }: Window,
  { nextSeq: first, batchSeq }: ScanPosition,
  { from, to }: ScanOptions,
): FoundUnits {
  const wanted: FrameUnit[] = []
  let nextSeq = first
  let at = 0
  let content = 0
  let damage: Wrong | undefined
  let full = false
  while (at < bytes.length && (nextSeq === undefined || nextSeq <= to)) {
    const unit = readUnit(bytes, at, offset, salt)
    if (unit === 'incomplete') break
    if ('damage' in unit) {
      damage = unit.found === undefined ? damaged(nextSeq, unit.damage) : wrongSeq(nextSeq, unit.found)
      break
    }
    const { firstSeq, events, contentBytes } = unit.commit
    if (nextSeq !== undefined && firstSeq !== nextSeq) {
      damage = wrongSeq(nextSeq, firstSeq)
      break
    }
    const inRange = firstSeq + events > from && firstSeq <= to
    full = inRange && wanted.length > 0 && content + contentBytes > PAGE_CONTENT_BYTES
    if (full) break
    if (inRange) {
      wanted.push(unit)
      content += contentBytes
    }
    nextSeq = firstSeq + events
    at = unit.end
  }
  const position = { nextSeq, batchSeq: nextSeq ?? batchSeq }
  const found = { wanted, end: at, position, full }
  return damage === undefined ? found : { ...found, damage }
}

function wrongSeq(expected: number | undefined, found: number): Wrong {
  if (expected === undefined)
    return { message: `the batch at seq ${found} belongs at another place of the file`, found }
  return { message: `expected the batch at seq ${expected}, found seq ${found}`, seq: expected, found }
}

export function damaged(seq: number | undefined, why: string): Wrong {
  const what = seq === undefined ? 'a batch' : `the batch at seq ${seq}`
  return { message: `${what} is damaged: ${why}`, ...(seq === undefined ? {} : { seq }) }
}
