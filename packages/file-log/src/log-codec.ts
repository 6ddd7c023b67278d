/**
 * The codec port: how one log's bytes are written and read. Everything here is pure over bytes; opening, syncing and
 * searching is done by the rest of this package, the same for every codec. What compresses may take its time: such
 * functions may return promises.
 *
 * A log is a header, then *units* (lines, frames), each holding one or more events; one or more units make a *batch*,
 * which is what one append wrote. Offsets are absolute in the file.
 */
import type { AnySessionEvent, SessionHeader, StorageRepairOptions, StoredRecord } from '@session-persistence/core'

export type MaybePromise<T> = T | Promise<T>

/** What is wrong, and where. The message holds no payload. */
export interface Damage {
  readonly offset: number
  /** The seq that was expected there, where it is known. */
  readonly seq?: number
  readonly message: string
  /** What stood there, when it was a readable seq. */
  readonly found?: number
}

/** Bytes of a file: `bytes[0]` is the byte at `offset`. A codec may use them as scratch space: they are read once. */
export interface Window {
  readonly bytes: Buffer
  readonly offset: number
}

/** See `LogDialect.scan`. */
export const WINDOW_KEPT_BYTES: number = 64 * 1024

/** One verified unit. */
export interface UnitSpan {
  readonly offset: number
  /** Offset behind it, its terminator included. */
  readonly end: number
  readonly firstSeq: number
  readonly lastSeq: number
  /** The unit before this one, in which the place lies that was asked for: where a codec can tell. */
  readonly within?: { readonly offset: number; readonly firstSeq: number }
}

export interface SalvagedUnit extends UnitSpan {
  /** False when nothing but the unit itself lies in its span: its terminator is missing or damaged. */
  readonly terminated: boolean
}

/** Where a unit ends; of the header, with -1 for its seq. */
export interface UnitEnd {
  readonly end: number
  readonly lastSeq: number
}

/** What a window to salvage from stands between. */
export interface SalvagePlace {
  /** The last unit that was found before the window, or the header; undefined where it cannot be told where that ends. */
  readonly before: UnitEnd | undefined
  /** Whether the file ends with the window. */
  readonly isLast: boolean
}

/** The log of a damaged header, and what must be said of its fields: kept without proof, or lost. */
export interface SalvagedHeader {
  readonly dialect: LogDialect
  readonly doubts: readonly string[]
}

export interface BatchSpan {
  readonly offset: number
  readonly end: number
  readonly firstSeq: number
}

/** The end of a log as found, before anything is done about it (events-and-recovery.md, physical tail). */
export interface LogTail {
  /** Behind the last complete batch; what follows is torn, damaged, or a damaged terminator. */
  readonly end: number
  readonly nextSeq: number
  readonly lastTime: number | undefined
  /** The last complete batch; undefined in a log without one. */
  readonly lastBatch: BatchSpan | undefined
  /** False when the last unit is complete but its terminator is missing or damaged. */
  readonly terminated: boolean
  readonly verdict: TailVerdict
}

export type TailVerdict =
  | { readonly kind: 'clean' }
  | { readonly kind: 'torn'; readonly offset: number; readonly bytes: number }
  | { readonly kind: 'corrupt'; readonly damage: Damage }

export interface TailInput extends Window {
  /** Size of the file; what lies between the end of the window and this is all NUL. */
  readonly size: number
  /** True when the window starts where the first unit does. */
  readonly whole: boolean
}

/** A file of known size, for what reads here and there in it. */
export interface ByteSource {
  readonly path: string
  readonly size: number
  /** Exactly these bytes. CORRUPT when the file has become shorter. */
  read(offset: number, length: number): Promise<Buffer>
}

/** What a forward scan knows of what comes next; undefined where it starts in the middle. */
export interface ScanPosition {
  readonly nextSeq: number | undefined
  /** First seq of the batch that the next unit belongs to. */
  readonly batchSeq: number | undefined
}

export interface ScanOptions {
  /** Records before and behind these seqs are checked and left out. */
  readonly from: number
  readonly to: number
  /** See `StorageReadRange.elideChunks`. */
  readonly elideChunks: boolean
  /** The window is one unit that `salvage` has proven, its terminator missing or damaged. */
  readonly unterminated?: boolean
}

export interface ScanResult {
  readonly records: StoredRecord[]
  /** Offset behind the last unit that was scanned. */
  readonly end: number
  readonly position: ScanPosition
  /** Set at the first damage; `end` is then where the damaged unit starts. */
  readonly damage?: Damage
  /** Oddities that lose nothing (line ends of another kind), for `check`. */
  readonly notes?: readonly string[]
}

/** How one stored log is written, as its header says. */
export interface LogDialect {
  readonly header: SessionHeader
  /** Offset of the first unit. */
  readonly dataStart: number
  /** Oddities of the header that lose nothing (a byte-order mark), for `check`. */
  readonly notes: readonly string[]
  /** The bytes of one batch, to be written at `offset`. INVARIANT when the events are not contiguous. */
  encodeBatch(events: readonly AnySessionEvent[], offset: number): MaybePromise<Buffer>
  readonly tail: TailReading
  /**
   * Decodes whole units from the start of the window, which a unit starts at. `end` stays put when none is whole. The
   * bytes stay as they are until the promise settles; and where more than {@link WINDOW_KEPT_BYTES} of a window are left
   * behind `end`, those stay until the next scan, which, if it goes on there, is of these same bytes.
   */
  scan(window: Window, position: ScanPosition, options: ScanOptions): MaybePromise<ScanResult>
  /** The first verified unit that starts in the window at or behind `from`; undefined when there is none. Leaves the bytes as they are. */
  findUnit(window: Window, from: number): UnitSpan | undefined
  /**
   * Where a page of bounded content that ends with the window starts, for a codec of which a few bytes may hold much;
   * undefined when it starts before the window, or when the end is damaged.
   */
  pageStart?(window: Window): number | undefined
  /** Smallest offset in the window, its start excluded, where a unit starts; the window ends with a unit. */
  firstUnitStart(window: Window): number | undefined
  /**
   * Every verified unit in the window, wherever it stands and whatever surrounds it, in order of offset; and how many
   * bytes need no second look. For `repair`.
   */
  salvage(
    window: Window,
    place: SalvagePlace,
  ): MaybePromise<{ readonly units: readonly SalvagedUnit[]; readonly consumed: number }>
  /**
   * For listing: the CRC that the receipt of the newest event has (core, `HeadReceipt`), from the last bytes of a log
   * that `glance` found sound. Undefined where telling it takes more than its bytes.
   */
  receiptCrc?(tail: Buffer): string | undefined
  /** How small batches are merged into large ones; absent where that gains nothing. */
  readonly sealing?: Sealing
}

/** How the end of a log is found. */
export type TailReading =
  /** The verdict from the last bytes of a log, or undefined when the window must start earlier. */
  | { readonly kind: 'window'; read(input: TailInput): LogTail | undefined }
  /** For a codec that finds its way by few small reads. CORRUPT when there is no telling where the last batch ends. */
  | { readonly kind: 'source'; find(source: ByteSource): Promise<LogTail> }

export interface SealPlan {
  /** Where the first batch to be merged starts: everything before it stays as it is. */
  readonly offset: number
  /** Seq of its first event. */
  readonly seq: number
  /** Batches from there to the end. */
  readonly batches: number
}

export interface Sealing {
  /**
   * What to merge in a log whose last batch ends at `end`: at `close`, nothing unless it pays; when `asked`, nothing
   * only where nothing can be merged.
   */
  plan(source: ByteSource, end: number, occasion: 'close' | 'asked'): Promise<SealPlan | undefined>
  /** Large batches of the same events, to be written one behind the other from `offset`. */
  merge(pages: AsyncIterable<readonly AnySessionEvent[]>, offset: number): AsyncIterable<Buffer>
}

export interface LogCodec {
  /** Name of the backend: `jsonl`. */
  readonly name: string
  readonly version: string
  /** Name of the log inside a session directory. */
  readonly fileName: string
  readonly integrity: 'none' | 'checksum'
  readonly modes: { readonly [mode: string]: string }
  /** Bytes from the start of a file that hold every legal header. */
  readonly headerBytesMax: number
  /** Bytes of the largest legal unit. */
  readonly unitBytesMax: number
  /** Bytes of the largest legal batch. */
  readonly batchBytesMax: number
  /** The byte that ends every unit, where there is one: an endless unit can then be refused without holding it. */
  readonly terminator?: number
  /** True where every unit proves its own offset, so that a copy of it elsewhere in the file is no unit. */
  readonly provesPlace?: boolean
  /** Bytes by which `findUnit` knows a unit, where it need not see a whole one. */
  readonly landmarkBytes?: number
  /** Whether a writer that closes merges its batches where that pays. */
  readonly sealsAtClose?: boolean
  /** A new log: its first bytes, and how the rest is written. */
  create(header: SessionHeader): MaybePromise<{ readonly bytes: Buffer; readonly dialect: LogDialect }>
  /** True when the prefix of a file holds its whole header. */
  holdsHeader(prefix: Buffer): boolean
  /**
   * For listing: count and time of the last event of a log with this id, `size` bytes long, from its first and its last
   * bytes. Undefined unless both ends are sound and small enough to be told from these bytes alone.
   */
  glance(
    head: Buffer,
    tail: Buffer,
    id: string,
    size: number,
  ): { readonly events: number; readonly updatedAt: number } | undefined
  /** The log that starts with these bytes (`headerBytesMax` of them, or all). CORRUPT, UNSUPPORTED_VERSION. */
  open(prefix: Buffer): LogDialect
  /**
   * The same for a damaged header, for `repair`: what can still be told from its bytes and from the units behind it;
   * undefined when nothing tells how those could be read. `dataStart` is 0 where it cannot be told where the header ends.
   */
  salvageHeader(
    prefix: Buffer,
    id: string,
    messageFormats: StorageRepairOptions['messageFormats'],
  ): MaybePromise<SalvagedHeader | undefined>
}
