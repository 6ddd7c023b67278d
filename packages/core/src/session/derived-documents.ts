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
  #snapshotSeq: number

  constructor(writer: StorageWriter, snapshotSeq: number) {
    this.#writer = writer
    this.#snapshotSeq = snapshotSeq
  }

  /** `fold` must stand exactly at `head`, which must be durable. */
  async afterFlush(fold: LogFold, head: HeadReceipt): Promise<void> {
    await this.#snapshot(fold, head, SNAPSHOT_EVERY)
  }

  async atClose(fold: LogFold, facts: SummaryFacts, head: HeadReceipt): Promise<void> {
    await this.#snapshot(fold, head, SNAPSHOT_AT_CLOSE)
    await this.#save('summary', summaryText(facts, head))
  }

  async #snapshot(fold: LogFold, head: HeadReceipt, every: number): Promise<void> {
    if (head.seq - this.#snapshotSeq < every) return
    this.#snapshotSeq = head.seq
    await this.#save('snapshots', snapshotText(fold, head))
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
