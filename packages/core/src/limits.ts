/**
 * Every limit of the product in one table, each with its reason. A limit is checked at append, so that nothing can be
 * stored that a reader would refuse; readers check the same numbers before they allocate.
 */
export interface Limits {
  /** UTF-8 bytes of one event as JSON. A 20 MB image is 27 MB in base64; twice that leaves room. */
  readonly eventBytes: number
  /** UTF-8 bytes of one batch: what one flush, or one `appendAll`, may write. Bounds the memory of every reader. */
  readonly batchBytes: number
  /** Approximate bytes accepted but not durable. Past it `append` throws BACKPRESSURE instead of filling memory. */
  readonly pendingBytes: number
  /** Nesting depth of one event's data. JSON.stringify overflows the stack near 5,000; real events stay under 40. */
  readonly depth: number
  /** UTF-8 bytes of a session id. Long enough for 300 characters of any script. */
  readonly idBytes: number
  /** UTF-8 bytes of the header as JSON. Listing reads every header, so one must stay small. */
  readonly headerBytes: number
  /** Sessions on one page of `list`. */
  readonly pageSessions: number
  /** Milliseconds between acceptance and the background write. Bounds what a crash without `flush` loses. */
  readonly writeWindowMsMax: number
  /** Events of one packed run. Bounds the expansion of one record. */
  readonly runEvents: number
  /** UTF-8 bytes of the texts of one packed run. */
  readonly runBytes: number
}

const MiB = 1024 * 1024

export const LIMITS: Limits = Object.freeze({
  eventBytes: 64 * MiB,
  batchBytes: 128 * MiB,
  pendingBytes: 128 * MiB,
  depth: 512,
  idBytes: 1024,
  headerBytes: 64 * 1024,
  pageSessions: 1000,
  writeWindowMsMax: 200,
  runEvents: 1024,
  runBytes: MiB,
})
