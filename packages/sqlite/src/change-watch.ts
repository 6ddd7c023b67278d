/** Notices commits: at once those of this process, by polling `data_version` those of others. */

/** Bounds the delay of a follower of another process: one cheap look at shared memory in that time. */
const POLL_MS = 50

export class ChangeWatch {
  /** A number that differs after every commit of another connection; undefined while there is no database. */
  readonly #version: () => number | undefined
  readonly #waiting: Set<() => void> = new Set()
  #timer: NodeJS.Timeout | undefined
  #seen: number | undefined

  constructor(version: () => number | undefined) {
    this.#version = version
  }

  /** Everybody looks again. */
  announce(): void {
    for (const wake of [...this.#waiting]) wake()
  }

  /**
   * Looks now and after every change, until `look` returns something. Rejects with what `look` throws, and with the
   * signal's reason.
   */
  async until<T>(look: () => Promise<T | undefined>, signal?: AbortSignal): Promise<T> {
    for (;;) {
      signal?.throwIfAborted()
      // Armed before the look, so that no change falls between the two.
      const change = this.#next(signal)
      try {
        const found = await look()
        if (found !== undefined) return found
        await change.promise
      } finally {
        change.stop()
      }
    }
  }

  #next(signal: AbortSignal | undefined): { readonly promise: Promise<void>; readonly stop: () => void } {
    let wake: () => void = () => {}
    const promise = new Promise<void>((resolve) => {
      wake = resolve
    })
    this.#waiting.add(wake)
    signal?.addEventListener('abort', wake, { once: true })
    this.#poll()
    return {
      promise,
      stop: () => {
        this.#waiting.delete(wake)
        signal?.removeEventListener('abort', wake)
        if (this.#waiting.size === 0) this.#stop()
      },
    }
  }

  #poll(): void {
    if (this.#timer !== undefined) return
    this.#seen = this.#look()
    this.#timer = setInterval(() => {
      const now = this.#look()
      if (now === this.#seen) return
      this.#seen = now
      this.announce()
    }, POLL_MS)
  }

  #look(): number | undefined {
    try {
      return this.#version()
    } catch {
      // Whoever waits looks for itself and hears what is wrong.
      return Number.NaN
    }
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
