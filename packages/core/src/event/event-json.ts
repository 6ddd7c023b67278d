/**
 * The canonical JSON of an event and the receipt made of it (formats.md, head receipts). The same for every backend,
 * whatever packing, framing or key order the event was stored with.
 */
import { crc32Hex } from './crc32.ts'
import type { AnySessionEvent } from './event.ts'
import type { HeadReceipt } from './head-receipt.ts'

/** `JSON.stringify` of the envelope in key order: seq, time, type, data, ignorable, surface, sources. */
export function eventJson(event: AnySessionEvent): string {
  const { seq, time, type, data, ignorable, surface, sources } = event
  if (ignorable === undefined && surface === undefined && sources === undefined) {
    return JSON.stringify({ seq, time, type, data })
  }
  // Absent ones are undefined, which JSON leaves out.
  return JSON.stringify({ seq, time, type, data, ignorable, surface, sources })
}

/** The receipt of a log that ends with `event`; without one, of an empty log. */
export function headReceipt(event: AnySessionEvent | undefined): HeadReceipt {
  return Object.freeze(
    event === undefined ? { seq: -1, crc: '00000000' } : { seq: event.seq, crc: crc32Hex(eventJson(event)) },
  )
}
