/**
 * Reference S: the physical limit, a bare synchronous write + fdatasync of bytes that are ready. Reference W: what a
 * careful program without a library does: stringify each event, join, one write + fdatasync a batch. Neither locks,
 * checks, numbers or keeps anything.
 */
import fs from 'node:fs'
import type { AnySessionEvent } from 'session-persistence'

export class BareAppend {
  readonly #fd: number

  constructor(file: string) {
    this.#fd = fs.openSync(file, 'ax', 0o600)
  }

  /** S: `bytes` are ready before the clock starts. */
  prepared(bytes: Uint8Array): void {
    fs.writeSync(this.#fd, bytes)
    fs.fdatasyncSync(this.#fd)
  }

  /** W. */
  stringified(events: readonly AnySessionEvent[]): void {
    fs.writeSync(this.#fd, jsonLines(events))
    fs.fdatasyncSync(this.#fd)
  }

  close(): void {
    fs.closeSync(this.#fd)
  }
}

export function jsonLines(events: readonly AnySessionEvent[]): string {
  return `${events.map((event) => JSON.stringify(event)).join('\n')}\n`
}
