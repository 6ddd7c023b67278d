/**
 * What the summary beside a log knows of its end and the log does not (decision 4, as a witness). A summary is written
 * after the events that it tells of are durable, and read at another moment than the log: only a log that was opened
 * behind that moment can be short of them.
 */
import { isSessionError } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import { headReceipt } from '../event/event-json.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'
import type { MissingEvents } from '../recovery/recovery-report.ts'
import { eventAt } from '../session/read-events.ts'
import type { Settings } from '../session/settings.ts'
import { summaryHead } from '../session/summary-document.ts'
import type { StorageReader } from '../storage/session-storage.ts'
import { withReader } from '../storage/with-reader.ts'

export class KnownEnd {
  readonly #settings: Settings
  readonly #known: HeadReceipt
  #found: HeadReceipt | undefined

  private constructor(settings: Settings, known: HeadReceipt) {
    this.#settings = settings
    this.#known = known
  }

  /** Undefined without a summary. */
  static async read(reader: StorageReader, settings: Settings): Promise<KnownEnd | undefined> {
    const text = await reader.derived('summary')
    const known = text === undefined ? undefined : summaryHead(text)
    return known === undefined || known.seq < 0 ? undefined : new KnownEnd(settings, known)
  }

  get head(): HeadReceipt {
    return this.#known
  }

  get seq(): number {
    return this.#known.seq
  }

  /** The event of the log that has the seq. */
  saw(event: AnySessionEvent): void {
    this.#found = headReceipt(event)
  }

  /** A snapshot that fits the log proves its own event. */
  proved(receipt: HeadReceipt): void {
    if (receipt.seq === this.#known.seq) this.#found = receipt
  }

  /**
   * `again` opens the log anew, where it is not the caller's alone; it is asked only when something seems to be missing.
   * `always`: the event is read for it where nobody has seen it yet.
   */
  async missing(
    reader: StorageReader,
    { again, always }: { readonly again?: () => Promise<StorageReader>; readonly always: boolean },
  ): Promise<MissingEvents | undefined> {
    const { nextSeq } = reader.tail
    if (nextSeq > this.seq && this.#found === undefined && !always) return undefined
    const missing = await this.#compare(reader, this.#found)
    if (missing === undefined || again === undefined) return missing
    try {
      return await withReader(again(), (later) => this.#compare(later))
    } catch (error) {
      // Deleted meanwhile: then nothing is short of anything.
      if (isSessionError(error, 'NOT_FOUND')) return undefined
      throw error
    }
  }

  async #compare(reader: StorageReader, found?: HeadReceipt): Promise<MissingEvents | undefined> {
    const { seq, crc } = this.#known
    const { nextSeq } = reader.tail
    if (nextSeq <= seq) return { from: nextSeq, to: seq }
    // The event of another format has another receipt.
    if (reader.header.version !== this.#settings.upgrades.current) return undefined
    const receipt = found ?? headReceipt(await eventAt(reader, this.#settings.upgrades, seq))
    return receipt.crc === crc ? undefined : { from: seq, to: seq, replaced: true }
  }
}
