/** Waits for a busy database without holding the event loop, up to a bound. */
import { setTimeout as delay } from 'node:timers/promises'
import { isBusy } from './sqlite-error.ts'

/** The first waits are short: most contention is one commit of another process. */
const FIRST_MS = 1
const LONGEST_MS = 25

export class BusyWait {
  #leftMs: number
  #nextMs = FIRST_MS

  /** Milliseconds that all waits together take at most. */
  constructor(boundMs: number) {
    this.#leftMs = boundMs
  }

  /** False, at once, when the bound is reached. */
  async next(): Promise<boolean> {
    if (this.#leftMs <= 0) return false
    // Spread, so that processes that met once do not meet again and again.
    const ms = Math.min(this.#leftMs, this.#nextMs * (0.5 + Math.random()))
    this.#leftMs -= ms
    this.#nextMs = Math.min(LONGEST_MS, this.#nextMs * 2)
    await delay(ms)
    return true
  }
}

/** Repeats a call that found the database busy; its error, unchanged, once the bound is reached. */
export async function retryWhileBusy<T>(boundMs: number, call: () => T): Promise<T> {
  const wait = new BusyWait(boundMs)
  for (;;) {
    try {
      return call()
    } catch (error) {
      if (!isBusy(error) || !(await wait.next())) throw error
    }
  }
}
