import { SessionError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import type { AnySessionEvent } from './event.ts'
import { eventJson } from './event-json.ts'

/** What an estimate may be above the truth, in bytes: it counts an envelope generously. */
const SLACK = 256

/**
 * TOO_LARGE when the canonical JSON of an event exceeds `limit` bytes of UTF-8. `size` estimates it: the sizes that
 * `losslessCopy` gave, and the envelope; the true number is at most six times as large, and is measured only where
 * that leaves a doubt.
 */
export function checkEventBytes(event: AnySessionEvent, size: number, limit: number = LIMITS.eventBytes): void {
  if (size * 6 <= limit) return
  // What passes here is at most 384 MiB of text, which a JavaScript string can hold.
  if (size <= limit + SLACK && Buffer.byteLength(eventJson(event), 'utf8') <= limit) return
  throw new SessionError('TOO_LARGE', `The event exceeds the limit eventBytes (${limit} bytes of UTF-8 JSON)`, {
    seq: event.seq,
    expected: limit,
  })
}

/**
 * Most that the sizes of one batch may add up to. They are estimates, up to six times too low, so that a batch within
 * this stays within `LIMITS.batchBytes`.
 */
export const BATCH_SIZE_MAX: number = LIMITS.batchBytes / 8
