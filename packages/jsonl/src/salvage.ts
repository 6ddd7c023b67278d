/** Finds everything that can be proven in damaged bytes, for `repair`. */
import type { SalvagedUnit, Window } from '@session-persistence/file-log'
import { LF, type LineFormat } from './line.ts'
import { type LineUnit, verifyLine } from './line-unit.ts'
import { RECORD_START } from './salvage-header.ts'

/** Places tried in one damaged line. */
const TRIES_MAX = 10_000

/** Every verified line among the whole lines of the window; where line ends were lost, also lines glued together. */
export function salvageLines(
  format: LineFormat,
  { bytes, offset }: Window,
): { readonly units: readonly SalvagedUnit[]; readonly consumed: number } {
  const units: SalvagedUnit[] = []
  let at = 0
  for (;;) {
    const end = bytes.indexOf(LF, at)
    if (end === -1) return { units, consumed: at }
    const unit = verifyLine(format, bytes, at, end)
    if (unit === undefined) gluedLines(format, bytes, offset, at, end, units)
    else units.push(salvaged(unit, offset + at, offset + end + 1, true))
    at = end + 1
  }
}

function salvaged({ firstSeq, lastSeq }: LineUnit, offset: number, end: number, terminated: boolean): SalvagedUnit {
  return { offset, end, firstSeq, lastSeq, terminated }
}

/** Lines inside `[start, end)`, each from one start of a record to another, whatever stands around them. */
function gluedLines(
  format: LineFormat,
  bytes: Buffer,
  offset: number,
  start: number,
  end: number,
  into: SalvagedUnit[],
): void {
  // Without a checksum nothing proves that a piece is what was written.
  if (format.checksum === 'none') return
  const starts: number[] = []
  for (let at = bytes.indexOf(RECORD_START, start); at !== -1 && at < end; at = bytes.indexOf(RECORD_START, at + 1))
    starts.push(at)
  let tries = TRIES_MAX
  for (let index = 0; index < starts.length && tries > 0; index++) {
    const from = starts[index] ?? end
    // Data may hold objects that start like a record: the end may lie behind several such places.
    for (let next = index + 1; next <= starts.length && tries > 0; next++, tries--) {
      const stop = endOfPiece(format, bytes, from, starts[next] ?? end)
      if (stop === undefined) continue
      into.push(salvaged(stop.unit, offset + from, offset + stop.end, false))
      index = next - 1
      break
    }
  }
}

/** A line that ends at `stop`, or one byte before it where its terminator was overwritten. */
function endOfPiece(
  format: LineFormat,
  bytes: Buffer,
  from: number,
  stop: number,
): { readonly unit: LineUnit; readonly end: number } | undefined {
  for (const end of [stop, stop - 1]) {
    const unit = verifyLine(format, bytes, from, end)
    if (unit !== undefined) return { unit, end }
  }
  return undefined
}
