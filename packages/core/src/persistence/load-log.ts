/** Folds a stored log: from a snapshot where one fits, else from the start. Shared by resume, inspect, fork and verify. */
import { SessionError } from '../errors.ts'
import { headReceipt } from '../event/event-json.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'
import { LogFold } from '../projection/log-fold.ts'
import { parseSnapshot } from '../projection/snapshot.ts'
import type { MissingEvents } from '../recovery/recovery-report.ts'
import { eventAt } from '../session/read-events.ts'
import type { Settings } from '../session/settings.ts'
import { isElided, type StorageReader } from '../storage/session-storage.ts'
import { KnownEnd } from './missing-events.ts'

export interface LoadedLog {
  readonly fold: LogFold
  /** Of the last event folded. */
  readonly head: HeadReceipt
  /** Time of the last event; undefined in an empty log. */
  readonly lastTime: number | undefined
  /** Seq of the snapshot that the fold started from; -1 for none. */
  readonly snapshotSeq: number
  /** See `RecoveryReport.missing`; only where it was asked for. */
  readonly missing?: MissingEvents
}

export interface LoadOptions {
  /** Fold up to this seq, inclusive; default the whole log. */
  readonly to?: number
  /** Fold from seq 0 even where a snapshot would save that. */
  readonly fromStart?: boolean
  /** Decode chunks even where no projection needs them: what a verification wants. */
  readonly chunks?: boolean
  /** Look for missing events (`RecoveryReport.missing`), where the whole log is folded. */
  readonly witness?: {
    /** Opens the log again, where others may write it meanwhile. */
    readonly again?: () => Promise<StorageReader>
    /** Read the event that the summary was made for, too, where the fold does not come by. */
    readonly always: boolean
  }
  /** Called after each event or run of chunks, with the fold that holds it. */
  readonly each?: (fold: LogFold) => void
  readonly signal?: AbortSignal
}

/** CORRUPT and INVALID_EVENT with offset and seq where known; UNSUPPORTED_VERSION. Never writes. */
export async function loadLog(
  reader: StorageReader,
  settings: Settings,
  options: LoadOptions = {},
): Promise<LoadedLog> {
  const last = Math.min(options.to ?? Number.POSITIVE_INFINITY, reader.tail.nextSeq - 1)
  const known = options.witness === undefined ? undefined : await KnownEnd.read(reader, settings)
  const start = options.fromStart === true ? undefined : await restore(reader, settings, last)
  if (start !== undefined) known?.proved(start.head)
  const fold = start?.fold ?? new LogFold(settings.projections)
  const { upgrades } = settings
  const { version } = reader.header
  upgrades.check(version)
  // Without an end of its own the read also meets what stands behind the last sound batch: damage there must not make a
  // log look shorter than it is.
  const range = {
    from: fold.nextSeq,
    ...(options.to === undefined ? {} : { to: last }),
    elideChunks: options.chunks !== true && !fold.needsChunks,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  }
  if (options.to === undefined || range.from <= last) {
    for await (const page of reader.read(range)) {
      options.signal?.throwIfAborted()
      for (const record of page) {
        if (isElided(record)) fold.acceptElided(record)
        else {
          fold.accept(version === upgrades.current ? record : upgrades.event(version, record))
          if (record.seq === known?.seq) known.saw(record)
        }
        options.each?.(fold)
      }
    }
  }
  if (fold.nextSeq !== last + 1) {
    throw new SessionError('CORRUPT', `the log ends before seq ${last}`, {
      seq: fold.nextSeq,
      expected: last + 1,
      found: fold.nextSeq,
    })
  }
  const event = last < 0 ? undefined : (fold.lastEvent ?? (await eventAt(reader, upgrades, last)))
  const head = headReceipt(event)
  known?.proved(head)
  const missing = options.witness && (await known?.missing(reader, options.witness))
  return {
    fold,
    head,
    lastTime: event?.time,
    snapshotSeq: start?.head.seq ?? -1,
    ...(missing === undefined ? {} : { missing }),
  }
}

/** A snapshot counts only when the log holds the very event that it was taken after. */
async function restore(
  reader: StorageReader,
  settings: Settings,
  last: number,
): Promise<{ readonly fold: LogFold; readonly head: HeadReceipt } | undefined> {
  if (reader.header.version !== settings.upgrades.current) return undefined
  const text = await reader.derived('snapshots')
  if (text === undefined) return undefined
  const snapshot = parseSnapshot(text, settings.projections)
  if (snapshot === undefined || snapshot.head.seq < 0 || snapshot.head.seq > last) return undefined
  const event = await eventAt(reader, settings.upgrades, snapshot.head.seq)
  if (headReceipt(event).crc !== snapshot.head.crc) return undefined
  return { fold: snapshot.restore(), head: snapshot.head }
}

/** CORRUPT when the log does not hold the event that a caller's receipt was given for. */
export async function checkHead(reader: StorageReader, settings: Settings, expected: HeadReceipt): Promise<void> {
  if (expected.seq < 0) return
  if (expected.seq >= reader.tail.nextSeq) {
    throw new SessionError(
      'CORRUPT',
      `the log ends at seq ${reader.tail.nextSeq - 1}, but seq ${expected.seq} was acknowledged: a suffix is missing`,
      { seq: expected.seq, expected: expected.seq, found: reader.tail.nextSeq - 1 },
    )
  }
  const found = headReceipt(await eventAt(reader, settings.upgrades, expected.seq))
  if (found.crc === expected.crc) return
  throw new SessionError('CORRUPT', `the event with seq ${expected.seq} is not the one that was acknowledged`, {
    seq: expected.seq,
    expected: expected.crc,
    found: found.crc,
  })
}
