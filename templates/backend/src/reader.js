import { stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { systemCode } from './files.js'

/** Events that are handed out at once. */
const PAGE = 256
/** Milliseconds between two looks at a file that somebody follows. */
const LOOK_EVERY_MS = 20

/**
 * A snapshot: everything was read when it was opened, so that no writer can change it. A backend for long sessions
 * would remember where the log ended, and read page by page.
 *
 * @implements {Reader}
 * @typedef {import('@session-persistence/core').StorageReader} Reader
 */
export class AcmeReader {
  #path
  #log

  /**
   * @param {string} path
   * @param {number} bytes
   * @param {import('./log-file.js').ScannedLog} log
   */
  constructor(path, bytes, log) {
    this.#path = path
    this.#log = log
    this.bytes = bytes
    this.header = log.header
    this.tail = tailOf(log)
  }

  /** @param {import('@session-persistence/core').StorageReadRange} range */
  async *read({ from = 0, to = Number.POSITIVE_INFINITY, reverse = false, signal }) {
    signal?.throwIfAborted()
    const { events, damage } = this.#log
    const wanted = events.slice(from, to + 1)
    // What stands behind the damage is asked for: forwards it is met last, backwards first.
    const met = to < events.length ? undefined : damage
    if (reverse) {
      if (met !== undefined) throw met
      wanted.reverse()
    }
    for (let index = 0; index < wanted.length; index += PAGE) {
      signal?.throwIfAborted()
      yield wanted.slice(index, index + PAGE)
    }
    if (met !== undefined) throw met
  }

  /** Nothing is kept beside a log. It would make listing and resuming quicker, and changes no answer. */
  async derived() {
    return undefined
  }

  /**
   * @param {AbortSignal} [signal]
   * @returns {Promise<'changed' | 'deleted'>}
   */
  async changed(signal) {
    for (;;) {
      signal?.throwIfAborted()
      const size = await stat(this.#path).then(
        (file) => file.size,
        (/** @type {unknown} */ error) => (systemCode(error) === 'ENOENT' ? undefined : Promise.reject(error)),
      )
      if (size === undefined) return 'deleted'
      if (size !== this.bytes) return 'changed'
      // The pause rejects with an error of its own when it is aborted; the caller wants the reason of the signal.
      await pause(LOOK_EVERY_MS, undefined, { ref: false, signal }).catch(() => {})
    }
  }

  async close() {}
}

/**
 * @param {import('./log-file.js').ScannedLog} log
 * @returns {import('@session-persistence/core').StorageTail}
 */
export function tailOf({ events, torn }) {
  const tail = { nextSeq: events.length, lastTime: events.at(-1)?.time }
  return torn === undefined ? tail : { ...tail, torn }
}
