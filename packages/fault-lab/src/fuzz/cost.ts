/** What a fuzzed file may cost: work that does not end, or memory that grows, is a fault like any other. */

/** A log of a few kilobytes takes well under a millisecond; a pause of the collector takes tens. */
const CPU_MS_MAX = 2_000

/** Above what the process had when it began: what millions of small objects leave to the collector. */
const GROWTH_MAX = 256 * 1024 * 1024

export class CostMeter {
  readonly #resident = process.memoryUsage.rss()
  #before = process.cpuUsage()
  #longestMs = 0

  /** Ends one file. Undefined when it was cheap, else what it cost. */
  next(): string | undefined {
    const { user, system } = process.cpuUsage(this.#before)
    this.#before = process.cpuUsage()
    const ms = Math.ceil((user + system) / 1000)
    this.#longestMs = Math.max(this.#longestMs, ms)
    return ms > CPU_MS_MAX ? `it took ${ms} ms of work` : undefined
  }

  /** Milliseconds of work that one file took at most. */
  get longestMs(): number {
    return this.#longestMs
  }

  /** Undefined when memory stayed bounded. */
  growth(): string | undefined {
    const grown = process.memoryUsage.rss() - this.#resident
    return grown > GROWTH_MAX ? `memory grew by ${Math.round(grown / 1024 / 1024)} MiB` : undefined
  }
}
