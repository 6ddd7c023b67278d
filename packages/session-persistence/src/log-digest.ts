import { createHash, type Hash } from 'node:crypto'
import {
  type AnySessionEvent,
  eventJson,
  type HeadReceipt,
  headReceipt,
  type LogSource,
  type SessionHeader,
  type SessionPersistence,
} from '@session-persistence/core'

/** What a log is, whatever stores it. */
export interface LogDigest {
  readonly id: string
  readonly events: number
  readonly head: HeadReceipt
  /**
   * SHA-256, 64 hexadecimal digits, of UTF-8 lines that end in a line feed: the header as JSON, then the canonical JSON
   * of every event (the one that receipts are made of). Equal logs have equal digests in every backend.
   */
  readonly digest: string
}

/** A {@link LogDigest} in the making, event by event. */
export class LogHasher {
  readonly #id: string
  readonly #hash: Hash
  #events = 0
  #last: AnySessionEvent | undefined

  constructor(header: SessionHeader) {
    this.#id = header.id
    this.#hash = createHash('sha256').update(`${JSON.stringify(header)}\n`)
  }

  add(event: AnySessionEvent): void {
    this.#hash.update(`${eventJson(event)}\n`)
    this.#events++
    this.#last = event
  }

  /** Once, at the end. */
  finish(): LogDigest {
    const digest = this.#hash.digest('hex')
    return { id: this.#id, events: this.#events, head: headReceipt(this.#last), digest }
  }
}

/**
 * The digest of a stored session, from reading all of it. Memory is bounded by a page of events. NOT_FOUND, CORRUPT and
 * UNSUPPORTED_VERSION as `exportLog`; an abort rejects with the signal's reason.
 */
export async function digestLog(
  persistence: SessionPersistence,
  id: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<LogDigest> {
  return digestSource(await persistence.exportLog(id, options))
}

/** The same for a log that is not stored, or that is open already. */
export async function digestSource({ header, events }: LogSource): Promise<LogDigest> {
  const hasher = new LogHasher(header)
  for await (const page of events) for (const event of page) hasher.add(event)
  return hasher.finish()
}
