/** The closing events that fit: one function for a live `closeTurn` and for recovery. */
import type { EventInput } from '../event/event.ts'
import { LIMITS } from '../limits.ts'
import type { LogFold } from '../projection/log-fold.ts'
import { type ClosingOptions, closingEvents } from '../recovery/closing-events.ts'

/**
 * As `closingEvents`, but an unfinished answer whose text could be too large for one event is left out: its chunks stay in the
 * log, each under the limit, while an answer made of them all could never be appended, and the turn never closed.
 */
export function planClosers(fold: LogFold, options: ClosingOptions): EventInput[] {
  const characters = options.blocks.reduce((sum, block) => sum + block.text.length, 0)
  // A character takes at most six bytes of JSON (an escape); half of the limit is left for what the format adds.
  const fits = characters * 6 <= LIMITS.eventBytes / 2 || jsonBytes(options) <= LIMITS.eventBytes / 2
  return closingEvents(fold, fits ? options : { ...options, keepPartialAnswer: false })
}

function jsonBytes({ blocks }: ClosingOptions): number {
  return blocks.reduce((sum, block) => sum + Buffer.byteLength(JSON.stringify(block.text)), 0)
}
