/** What a repair keeps of one damaged log, and what it gives up. */
import {
  type AnySessionEvent,
  FORMAT_VERSION,
  SalvagedLog,
  type StorageRepair,
  type StorageRepairOptions,
} from '@session-persistence/core'
import { type SalvagedSpan, salvageSpans } from './salvage-plan.ts'
import { SalvagedEvents } from './salvaged-events.ts'
import type { ScanSource } from './scan-pages.ts'

/** Missing seqs that are filled beyond what the unreadable bytes could have held: a forged seq must not fill the disk. */
const UNEXPLAINED_MAX = 100_000

type Lost = StorageRepair['lost'][number]

export class RepairPlan {
  /** Proven events that are given up, since others claim their seqs. */
  readonly rivals: readonly Lost[]
  readonly #source: ScanSource
  readonly #spans: readonly SalvagedSpan[]
  readonly #events: SalvagedEvents
  readonly #messageFormats: StorageRepairOptions['messageFormats']

  private constructor(
    source: ScanSource,
    spans: readonly SalvagedSpan[],
    rivals: readonly Lost[],
    messageFormats: StorageRepairOptions['messageFormats'],
  ) {
    this.#source = source
    this.#spans = spans
    this.#events = new SalvagedEvents(source, spans)
    this.rivals = rivals
    this.#messageFormats = messageFormats
  }

  static async of(source: ScanSource, { signal, messageFormats }: StorageRepairOptions): Promise<RepairPlan> {
    const spans = await salvageSpans(source, signal)
    const rivals = await new SalvagedEvents(source, spans).rivals(signal)
    return new RepairPlan(source, spans, rivals, messageFormats)
  }

  /** A pass over what can be proven; each decides alike. */
  begin(): SalvagedLog {
    const { version, messageFormat } = this.#source.dialect.header
    return new SalvagedLog({
      judged: version === FORMAT_VERSION,
      messageFormat,
      messageFormats: this.#messageFormats,
      missingMax: this.#unreadableBytes() + UNEXPLAINED_MAX,
      joinedAt: this.rivals.flatMap(({ to }) => to ?? []).sort((a, b) => a - b),
      // Nothing tells where the log of a damaged file ended: whole lines may be gone from there as well.
      isEndLost: () => true,
    })
  }

  /** Every proven event, in order of seq. */
  proven(signal: AbortSignal | undefined, unread: (lost: Lost) => void): AsyncIterable<readonly AnySessionEvent[]> {
    return this.#events.once(signal, unread)
  }

  /** Bytes that hold no proven record, in file order. */
  *#unreadable(): Generator<{ readonly offset: number; readonly bytes: number }, void, undefined> {
    let at = this.#source.dialect.dataStart
    for (const { offset, end } of [...this.#spans].sort((a, b) => a.offset - b.offset)) {
      if (offset > at + 1) yield { offset: at, bytes: offset - at }
      at = Math.max(at, end)
    }
    if (this.#source.end > at + 1) yield { offset: at, bytes: this.#source.end - at }
  }

  #unreadableBytes(): number {
    let sum = 0
    for (const { bytes } of this.#unreadable()) sum += bytes
    return sum
  }

  /** Those of them that are not a line end. */
  *lostBytes(): Generator<Lost, void, undefined> {
    for (const { offset, bytes } of this.#unreadable()) {
      yield { message: `${bytes} bytes hold no record that can be proven`, offset, bytes }
    }
  }
}
