/** Finds every record that can be proven in damaged bytes, for `repair`. */
import type { AnySessionEvent } from '@session-persistence/core'
import { LF, type LineFormat } from './line.ts'
import { decodeLine } from './line-scan.ts'

/** How every record starts. */
const START = Buffer.from('{"seq":')
/** Places tried in one damaged line. */
const TRIES_MAX = 10_000

/** The events of every verified line in whole lines of `bytes`; where line ends were lost, also of lines glued together. */
export function salvageLines(
  format: LineFormat,
  bytes: Buffer,
): { readonly events: readonly AnySessionEvent[]; readonly consumed: number } {
  const events: AnySessionEvent[] = []
  let at = 0
  for (;;) {
    const end = bytes.indexOf(LF, at)
    if (end === -1) return { events, consumed: at }
    const decoded = decodeLine(format, bytes, at, end)
    for (const event of decoded?.events ?? glued(format, bytes, at, end)) events.push(event)
    at = end + 1
  }
}

/** Lines inside `[start, end)` between one start of a record and the next, whatever stands around them. */
function glued(format: LineFormat, bytes: Buffer, start: number, end: number): readonly AnySessionEvent[] {
  // Without a checksum nothing proves that a piece is what was written.
  if (format.checksum === 'none') return []
  const events: AnySessionEvent[] = []
  const starts: number[] = []
  for (let at = bytes.indexOf(START, start); at !== -1 && at < end; at = bytes.indexOf(START, at + 1)) starts.push(at)
  let tries = TRIES_MAX
  for (let index = 0; index < starts.length && tries > 0; index++) {
    const from = starts[index] ?? end
    // Data may hold objects that start like a record: the end may lie behind several such places.
    for (let next = index + 1; next <= starts.length && tries > 0; next++, tries--) {
      const stop = starts[next] ?? end
      const decoded = decodeLine(format, bytes, from, stop) ?? decodeLine(format, bytes, from, stop - 1)
      if (decoded === undefined) continue
      for (const event of decoded.events) events.push(event)
      index = next - 1
      break
    }
  }
  return events
}
