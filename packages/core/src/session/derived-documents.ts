/**
 * Writes the two disposable documents beside a log: snapshots of the projections, so that a resume folds only the
 * suffix, and the summary that listing shows. Both are stamped with a head receipt and ignored when it does not match.
 */
import type { HeadReceipt } from '../event/head-receipt.ts'
import type { LogFold } from '../projection/log-fold.ts'
import { snapshotText } from '../projection/snapshot.ts'
import type { DerivedDocument, StorageWriter } from '../storage/session-storage.ts'
import { type SummaryFacts, summaryText } from './summary-document.ts'

/** Estimated bytes of events between snapshots while running: folding them again takes a fraction of a second. */
const BYTES_BETWEEN = 16 * 1024 * 1024
/** And as many times the size of the newest snapshot, so that states of any size cost a small share of their log. */
const SIZES_BETWEEN = 4
/** A resume that had to fold this many events makes up for it at once: processes may crash more often than logs grow. */
const FOLDED_AGAIN_MAX = 20_000
/** A shorter log folds in milliseconds: a snapshot at close would cost more than it saves. */
const EVENTS_AT_CLOSE = 1_000

export interface DocumentsStart {
  /** Seq of the newest stored snapshot that fits the log; -1 without one. */
  readonly snapshotSeq: number
  /** Seq of the first event that this writer will write. */
  readonly nextSeq: number
}

export class DerivedDocuments {
  readonly #writer: StorageWriter
  readonly #onUnsaved: (error: unknown) => void
  #snapshotSeq: number
  /** Estimated bytes of events that became durable since the newest snapshot. */
  #bytesSince = 0
  /** As many of them make the next snapshot due. */
  #bytesUntilDue: number

  /** `onUnsaved` hears why a state cannot be written as JSON: that is a fault of a projection, not of the medium. */
  constructor(writer: StorageWriter, start: DocumentsStart, onUnsaved: (error: unknown) => void) {
    this.#writer = writer
    this.#snapshotSeq = start.snapshotSeq
    this.#bytesUntilDue = start.nextSeq - 1 - start.snapshotSeq >= FOLDED_AGAIN_MAX ? 0 : BYTES_BETWEEN
    this.#onUnsaved = onUnsaved
  }

  /** Events of so many estimated bytes became durable. */
  wrote(bytes: number): void {
    this.#bytesSince += bytes
  }

  /** Whether a snapshot is worth its cost in the middle of a session. */
  get isSnapshotDue(): boolean {
    return this.#bytesSince >= this.#bytesUntilDue
  }

  /** `fold` must stand exactly at `head`, which must be durable. */
  async saveSnapshot(fold: LogFold, head: HeadReceipt): Promise<void> {
    this.#snapshotSeq = head.seq
    this.#bytesSince = 0
    const text = this.#textOf(() => snapshotText(fold, head))
    this.#bytesUntilDue = Math.max(BYTES_BETWEEN, SIZES_BETWEEN * (text?.length ?? 0))
    if (text !== undefined) await this.#save('snapshots', text)
  }

  /** As `saveSnapshot`, where enough events came since the newest one; and the summary. */
  async atClose(fold: LogFold, facts: SummaryFacts, head: HeadReceipt): Promise<void> {
    if (head.seq - this.#snapshotSeq >= EVENTS_AT_CLOSE) await this.saveSnapshot(fold, head)
    const text = this.#textOf(() => summaryText(facts, head))
    if (text !== undefined) await this.#save('summary', text)
  }

  #textOf(make: () => string): string | undefined {
    try {
      return make()
    } catch (error) {
      // A `save` that throws, a state that is no JSON, or more text than a string can hold.
      this.#onUnsaved(error)
      return undefined
    }
  }

  async #save(document: DerivedDocument, text: string): Promise<void> {
    try {
      await this.#writer.saveDerived(document, text)
    } catch {
      // Disposable by definition: without it the next resume or listing folds the log. The medium that refused this
      // refuses the next batch as well, and that failure is reported.
    }
  }
}
