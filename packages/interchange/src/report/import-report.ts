/** What a reader did with a source: every line is mapped, kept or damaged, and the counts say how many of each. */

/** Why a stretch of bytes is no plain record. */
export type DamageReason =
  /** No JSON at all. */
  | 'not-json'
  /** JSON, but no object. */
  | 'not-an-object'
  /** Several records on one line. All of them are read. */
  | 'glued-records'
  /** A record follows a stub on the same line. The record is read. */
  | 'torn-record'
  /** Bytes that are not UTF-8, read as U+FFFD. */
  | 'invalid-utf8'
  /** NUL bytes around a record, or a line of nothing else. */
  | 'nul-run'
  /** Nested deeper than an event may be. */
  | 'too-deep'
  /** Longer than an event may be. */
  | 'too-long'
  /** A number that JSON parsing changes: an integer past 2^53, -0, digits past a double's. */
  | 'inexact-number'

export interface DamagedLine {
  /** From 1. */
  readonly line: number
  /** Bytes from the start of the file to the start of the line. */
  readonly offset: number
  readonly reason: DamageReason
  /** `mapped`: its records were read all the same. `raw`: only its text is kept, as `interchange/damaged`. */
  readonly outcome: 'mapped' | 'raw'
}

/** What had to change so that the log obeys the grammar, counted by kind. */
export interface Repairs {
  /** Turn and step boundaries made because the source has none there. */
  readonly boundaries: number
  /** Results made for calls that never got one. */
  readonly syntheticResults: number
  /** Messages moved behind the results that they interrupted, and results moved before them. */
  readonly reordered: number
  /** Results of calls that the log does not ask for, kept as user messages. */
  readonly orphanResults: number
  /** Replacements whose range is not live, kept as plain appends. */
  readonly replacements: number
  /** Records kept aside because the grammar has no place for them where they stand. */
  readonly misplaced: number
}

export interface SeqGap {
  readonly line: number
  readonly expected: number
  readonly found: number
}

/** Details are listed up to this many each; the counts go on. */
export const LISTED_MAX = 1000

export interface ImportReport {
  readonly format: string
  readonly bytes: number
  readonly lines: number
  readonly blankLines: number
  /** Records found on the lines. */
  readonly records: number
  /** Records that became core events. */
  readonly mapped: number
  /** Records kept whole as ignorable extension events. */
  readonly kept: number
  readonly events: number
  readonly damaged: readonly DamagedLine[]
  readonly damagedCount: number
  /** Records that repeat another one by its id, kept aside. */
  readonly duplicates: number
  readonly seqGaps: readonly SeqGap[]
  readonly seqGapCount: number
  /** Records without a usable time; they took that of the record before. */
  readonly missingTimes: number
  readonly repairs: Repairs
  /** Harmless things that were seen. */
  readonly tolerated: {
    readonly byteOrderMark: boolean
    readonly crlf: number
    readonly noFinalNewline: boolean
  }
}
