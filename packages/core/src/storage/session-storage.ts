/**
 * The storage port: what a backend implements. Core owns every check, the queue, the write window, retries, recovery
 * and lifecycle; a backend only moves bytes. All functions may be called concurrently for different sessions; core
 * never calls two functions of one writer at once.
 */

import type { SessionError } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import type { SessionHeader } from '../event/header.ts'
import type { MessageFormat } from '../message-format/message-format.ts'

/** Levels, not booleans; frozen; checked by the conformance suite against what is observed. */
export interface BackendCapabilities {
  /** What an acknowledged flush survives: nothing but this medium object, the death of the process, power loss. */
  readonly durability: 'memory' | 'process' | 'power'
  /** Within what a second writer of a session is refused. */
  readonly exclusion: 'medium' | 'host'
  /** Whether a changed stored byte is always noticed. */
  readonly integrity: 'none' | 'checksum'
  /** Whose writes `follow` sees. */
  readonly follow: 'medium' | 'host'
  /** Whether `repair` exists. */
  readonly repair: 'none' | 'salvage'
}

export interface BackendDescription {
  readonly name: string
  readonly version: string
  readonly capabilities: BackendCapabilities
  /** Effective modes as read back (sync, journal, checksum, packing), for reports. */
  readonly modes: { readonly [mode: string]: string }
}

/** Bytes after the last complete batch, which hold no whole one (see events-and-recovery, physical tail). */
export interface TornTail {
  readonly offset: number
  readonly bytes: number
}

export interface StorageTail {
  /** Seq of the next event; the number of complete events stored. */
  readonly nextSeq: number
  /** Time of the last complete event; undefined in an empty log. */
  readonly lastTime: number | undefined
  readonly torn?: TornTail
}

export interface StorageReadRange {
  /** Inclusive; default 0. */
  readonly from?: number
  /** Inclusive; default the last event of the snapshot. */
  readonly to?: number
  /** Newest first. */
  readonly reverse?: boolean
  /**
   * The caller does not need the content of `assistant/chunk` events. A backend that can prove their integrity, count,
   * turn and step without decoding them may return {@link ElidedChunks} in their place; it need not.
   */
  readonly elideChunks?: boolean
  readonly signal?: AbortSignal
}

/** Stands for `count` consecutive `assistant/chunk` events of one step, first seq `seq`. */
export interface ElidedChunks {
  readonly elided: 'assistant/chunk'
  readonly seq: number
  readonly count: number
  readonly turn: number
  readonly step: number
}

export type StoredRecord = AnySessionEvent | ElidedChunks

export function isElided(record: StoredRecord): record is ElidedChunks {
  return 'elided' in record
}

/**
 * A small disposable document beside a log. Losing one costs time, never correctness. Core stamps and validates the
 * content; a backend stores the text.
 */
export type DerivedDocument = 'snapshots' | 'summary'

/** A consistent snapshot of one stored log: its end is the last batch end at opening. Never locks, never writes. */
export interface StorageReader {
  /** `version` may be older than the current one; the events then are of that version. */
  readonly header: SessionHeader
  readonly tail: StorageTail
  /** Bytes that the session takes on the medium, its side files excluded. */
  readonly bytes: number
  /**
   * Pages of records in order, each a checked envelope (see `decodeEvent`); memory is bounded by a page, and the cost
   * near the end does not depend on the length of the log. Throws CORRUPT with offset and seq at the first damage,
   * after everything before it was yielded. Ending the iteration early releases what it holds.
   */
  read(range: StorageReadRange): AsyncIterable<readonly StoredRecord[]>
  derived(document: DerivedDocument): Promise<string | undefined>
  /** Resolves when the stored log is no longer this snapshot: it grew, was replaced, or is gone. Rejects on abort. */
  changed(signal?: AbortSignal): Promise<'changed' | 'deleted'>
  close(): Promise<void>
}

/** What recovery cut from a torn tail, and where the bytes were kept. */
export interface Quarantine {
  readonly offset: number
  readonly bytes: number
  /** Where the bytes are; undefined where the medium has no such place. */
  readonly keptAt?: string
}

export type WriterIntent =
  /**
   * A new log. Nothing is stored before the first `append`, unless `staged`: then appends go to a place that nobody
   * sees until `publish`, and `close` before that leaves nothing.
   */
  { readonly kind: 'create'; readonly header: SessionHeader; readonly staged?: boolean } | { readonly kind: 'resume' }

/** Exclusive writer of one session, across processes where `exclusion` says so. */
export interface StorageWriter {
  /** Of the stored log; of the intent for a new one. */
  readonly header: SessionHeader
  readonly tail: StorageTail
  /** Where the log lives, for messages and reports. */
  readonly location: string
  /** The log as it stands under this lock. Kept valid until the next append. */
  openReader(): Promise<StorageReader>
  /**
   * Appends one batch: all or nothing, durable at the backend's level when it resolves. The first append after a
   * resume first makes the found tail durable. After a rejection the same batch comes again, possibly with more events
   * behind it: the backend re-establishes its durable length first, and rejects with POISONED while that fails.
   */
  append(events: readonly AnySessionEvent[]): Promise<void>
  /** Makes everything found by a resume durable, without adding anything. */
  settle(): Promise<void>
  /** Moves torn bytes aside, then cuts them. Nothing is cut if they could not be kept. */
  discardTornTail(): Promise<Quarantine>
  /** Makes a staged log appear whole under its id. ALREADY_EXISTS leaves the staged log as it is. */
  publish(): Promise<void>
  /**
   * Replaces header and events by others in one step, under the lock (an upgrade, a merge of batches). With
   * `keepOriginal` the old bytes stay beside the log under that suffix; resolves with their place, where it has a name.
   */
  rewrite(
    header: SessionHeader,
    events: AsyncIterable<readonly AnySessionEvent[]>,
    keepOriginal?: string,
  ): Promise<string | undefined>
  /** Keeps a small text beside the log, or nothing. Of a staged log it may come before `publish`, and appears with it. */
  saveDerived(document: DerivedDocument, text: string): Promise<void>
  close(): Promise<void>
}

export interface StorageListQuery {
  /** At most this many entries. */
  readonly limit: number
  /** Entries after this key only, in the order of the listing: newest `updatedAt` first, then `id` ascending by code unit; damaged and newer ones last, by id. */
  readonly after?: StorageListKey
  /** Cheap filters on what the listing reads anyway. */
  readonly cwd?: string
  readonly parent?: string
  readonly origin?: string
  readonly updatedAfter?: number
  readonly state?: StoredState
  readonly signal?: AbortSignal
}

export interface StorageListKey {
  /** Undefined for damaged and newer entries, which come last. */
  readonly updatedAt: number | undefined
  readonly id: string
}

/** `open` is a hint: somebody seems to be writing. `newer` is a format version ahead of this program. */
export type StoredState = 'ready' | 'open' | 'damaged' | 'newer'

export interface StorageListEntry {
  readonly id: string
  readonly state: StoredState
  /** Who seems to write, for people. */
  readonly owner?: string
  /** Undefined where the header could not be read. */
  readonly header?: SessionHeader
  readonly events?: number
  /** Time of the last event of the last complete batch, else the header's `createdAt`. */
  readonly updatedAt?: number
  readonly bytes: number
  /**
   * The stored summary document as it is, with the CRC that the receipt of the newest event has (see `HeadReceipt`).
   * Only where a backend has both at hand: otherwise the log is opened for the row, and the same comes of it.
   */
  readonly summary?: { readonly text: string; readonly crc: string }
  /** Why it is damaged or newer. */
  readonly error?: SessionError
}

export interface StorageProblem {
  readonly code: 'CORRUPT' | 'UNSUPPORTED_VERSION'
  readonly message: string
  readonly offset?: number
  readonly seq?: number
}

/** Physical check of every record of one log. */
export interface StorageCheck {
  readonly events: number
  readonly bytes: number
  readonly torn?: TornTail
  readonly problems: readonly StorageProblem[]
  /** Oddities that lose nothing: a byte-order mark, line ends that another tool wrote. */
  readonly notes?: readonly string[]
}

/** What `repair` did, or would do. */
export interface StorageRepairOptions {
  readonly dryRun: boolean
  readonly signal?: AbortSignal
  /** By name; in the one that a log has the results of calls are made that were lost. Those of core where none are given. */
  readonly messageFormats?: ReadonlyMap<string, MessageFormat>
}

export interface StorageRepair {
  readonly dryRun: boolean
  /** Events that the repaired log holds. */
  readonly kept: number
  /** What is lost: ranges of seqs (or of bytes where seqs cannot be told), each with a sentence. */
  readonly lost: readonly {
    readonly message: string
    /** Of events that were found, and that the grammar refuses where they stand, so that they are given up. */
    readonly code?: 'INVALID_EVENT'
    readonly offset?: number
    readonly bytes?: number
    readonly from?: number
    readonly to?: number
  }[]
  /** Where the original was kept; undefined in a dry run. */
  readonly originalAt?: string
}

export interface SessionStorage {
  readonly description: BackendDescription
  /**
   * LOCKED when another writer holds the id, before any byte is touched; NOT_FOUND to resume what is not there, which
   * is also what another writer has created and not yet stored (LIFE-15); ALREADY_EXISTS to create what is; CORRUPT and UNSUPPORTED_VERSION for what header and tail show. Reads header and
   * tail, not the log.
   */
  openWriter(id: string, intent: WriterIntent): Promise<StorageWriter>
  openReader(id: string): Promise<StorageReader>
  list(query: StorageListQuery): Promise<readonly StorageListEntry[]>
  /** True when something was there. Complete and idempotent; LOCKED while a writer is open, stored or not (DELETE-7). */
  delete(id: string): Promise<boolean>
  check(id: string, signal?: AbortSignal): Promise<StorageCheck>
  /** Present where `capabilities.repair` is `salvage`. */
  repair?(id: string, options: StorageRepairOptions): Promise<StorageRepair>
  close(): Promise<void>
}
