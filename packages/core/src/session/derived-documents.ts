/**
 * Writes the two disposable documents beside a log: snapshots of the projections, so that a resume folds only the
 * suffix, and the summary that listing shows. Both are stamped with a head receipt and ignored when it does not match.
 */
import type { HeadReceipt } from '../event/head-receipt.ts'
import type { LogFold } from '../projection/log-fold.ts'
import { snapshotText } from '../projection/snapshot.ts'
import type { DerivedDocument, StorageWriter } from '../storage/session-storage.ts'
import { type SummaryFacts, summaryText } from './summary-document.ts'

/** Events between snapshots while running: folding this many takes well under a second. */
const SNAPSHOT_EVERY = 20_000
/** A shorter log folds in milliseconds: a snapshot at close would cost more than it saves. */
const SNAPSHOT_AT_CLOSE = 1_000

export class DerivedDocuments {
  readonly #writer: StorageWriter
  readonly #onUnsaved: (error: unknown) => void
  #snapshotSeq: number

  /** `onUnsaved` hears why a state cannot be written as JSON: that is a fault of a projection, not of the medium. */
  constructor(writer: StorageWriter, snapshotSeq: number, onUnsaved: (error: unknown) => void) {
    this.#writer = writer
    this.#snapshotSeq = snapshotSeq
    this.#onUnsaved = onUnsaved
  }

  /** Whether a snapshot for this seq is worth its cost in the middle of a session. */
  isSnapshotDue(seq: number): boolean {
    return seq - this.#snapshotSeq >= SNAPSHOT_EVERY
  }

  /** `fold` must stand exactly at `head`, which must be durable. */
  async afterFlush(fold: LogFold, head: HeadReceipt): Promise<void> {
    await this.#snapshot(fold, head, SNAPSHOT_EVERY)
  }

  async atClose(fold: LogFold, facts: SummaryFacts, head: HeadReceipt): Promise<void> {
    await this.#snapshot(fold, head, SNAPSHOT_AT_CLOSE)
    const text = this.#textOf(() => summaryText(facts, head))
    if (text !== undefined) await this.#save('summary', text)
  }

  async #snapshot(fold: LogFold, head: HeadReceipt, every: number): Promise<void> {
    if (head.seq - this.#snapshotSeq < every) return
    this.#snapshotSeq = head.seq
    const text = this.#textOf(() => snapshotText(fold, head))
    if (text !== undefined) await this.#save('snapshots', text)
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
