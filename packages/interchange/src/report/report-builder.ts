import { type DamagedLine, type ImportReport, LISTED_MAX, type Repairs, type SeqGap } from './import-report.ts'

export type MutableRepairs = { -readonly [K in keyof Repairs]: number }

/** Counts while a log is read. */
export class ReportBuilder {
  bytes = 0
  lines = 0
  blankLines = 0
  records = 0
  mapped = 0
  kept = 0
  events = 0
  duplicates = 0
  missingTimes = 0
  byteOrderMark = false
  crlf = 0
  noFinalNewline = false
  readonly repairs: MutableRepairs = {
    boundaries: 0,
    syntheticResults: 0,
    reordered: 0,
    orphanResults: 0,
    replacements: 0,
    misplaced: 0,
  }
  readonly #format: string
  readonly #damaged: DamagedLine[] = []
  readonly #seqGaps: SeqGap[] = []
  #damagedCount = 0
  #seqGapCount = 0

  constructor(format: string) {
    this.#format = format
  }

  damage(line: DamagedLine): void {
    this.#damagedCount++
    if (this.#damaged.length < LISTED_MAX) this.#damaged.push(line)
  }

  seqGap(gap: SeqGap): void {
    this.#seqGapCount++
    if (this.#seqGaps.length < LISTED_MAX) this.#seqGaps.push(gap)
  }

  build(): ImportReport {
    return {
      format: this.#format,
      bytes: this.bytes,
      lines: this.lines,
      blankLines: this.blankLines,
      records: this.records,
      mapped: this.mapped,
      kept: this.kept,
      events: this.events,
      damaged: [...this.#damaged],
      damagedCount: this.#damagedCount,
      duplicates: this.duplicates,
      seqGaps: [...this.#seqGaps],
      seqGapCount: this.#seqGapCount,
      missingTimes: this.missingTimes,
      repairs: { ...this.repairs },
      tolerated: { byteOrderMark: this.byteOrderMark, crlf: this.crlf, noFinalNewline: this.noFinalNewline },
    }
  }
}
