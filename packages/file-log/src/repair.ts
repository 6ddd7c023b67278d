/**
 * Explicit salvage of a corrupt log, or of one whose events cannot follow each other (events-and-recovery.md, what a crash
 * leaves). Every record that can be proven is kept in order of seq, however its line was moved, repeated or glued to
 * another; core makes a legal log of them (`SalvagedLog`). The original stays beside it.
 */
import {
  type AnySessionEvent,
  FORMAT_VERSION,
  isElided,
  isLegalLog,
  isSessionError,
  SalvagedLog,
  type SessionHeader,
  type StorageRepair,
  type StorageRepairOptions,
} from '@session-persistence/core'
import { checkLog } from './check.ts'
import { attempt } from './io-error.ts'
import type { SalvagedHeader } from './log-codec.ts'
import { openLogReader } from './log-reader.ts'
import { corruptError, type OpenedLog, openLog, readHeader } from './log-snapshot.ts'
import type { WriterPlace } from './log-writer.ts'
import { readBytes } from './read-bytes.ts'
import { rewriteLog } from './rewrite.ts'
import { type SalvagedSpan, salvageSpans } from './salvage-plan.ts'
import { type ScanSource, scanForward } from './scan-pages.ts'

/** Suffix of the kept original. */
const ORIGINAL = 'damaged'
/** Missing seqs that are filled beyond what the unreadable bytes could have held: a forged seq must not fill the disk. */
const UNEXPLAINED_MAX = 100_000

type Lost = StorageRepair['lost'][number]

/** `dryRun` reads without a lock; otherwise the caller holds it. A log that is whole and legal is left as it is. */
export async function repairLog(
  place: WriterPlace,
  { dryRun, signal, messageFormats }: StorageRepairOptions,
): Promise<StorageRepair> {
  const { fs, layout, codec, name, id, durable } = place
  const directory = layout.directory(name)
  const check = await checkLog({ fs, layout, codec }, directory, id, signal)
  if (
    check.problems.length === 0 &&
    (await isLegalLog(openLogReader({ ...place, directory: () => directory }), signal))
  ) {
    // Perhaps the work of a repair that died, or could not sync, after its rename.
    if (!dryRun && durable) await attempt('sync the session directory', directory, () => fs.syncDirectory(directory))
    return { dryRun, kept: check.events, lost: [] }
  }
  const opened = await openLog(fs, layout, directory, id)
  try {
    const { dialect, doubts } = await headerOf(place, opened, messageFormats)
    const { file, path, stat } = opened
    const source: ScanSource = { file, path, codec, dialect, end: stat.size, terminated: true }
    const spans = await salvageSpans(source, signal)
    const plan = new RepairPlan(source, spans, messageFormats)
    const found = plan.begin()
    for await (const _ of found.pages(plan.proven(signal)));
    const { kept, seen } = found
    if (seen === 0) {
      throw corruptError(opened.path, id, {
        offset: dialect.dataStart,
        message: 'nothing could be salvaged: no event can be proven',
      })
    }
    const lost = [...doubts.map((message) => ({ message })), ...found.lost, ...plan.lostBytes()]
    if (dryRun) return { dryRun, kept, lost }
    const header = timedHeader(dialect.header, found.firstTime)
    const { originalAt, log, unsynced } = await rewriteLog(
      place,
      header,
      plan.begin().pages(plan.proven(signal)),
      ORIGINAL,
    )
    await log.close()
    // In place, and perhaps not for good: nobody may be told that it is done. Asking again settles it.
    if (unsynced !== undefined) throw unsynced
    return { dryRun, kept, lost, ...(originalAt === undefined ? {} : { originalAt }) }
  } finally {
    await opened.file.close().catch(() => {})
  }
}

/** A header whose time could not be told takes the time of the first event. */
function timedHeader(header: SessionHeader, firstTime: number | undefined): SessionHeader {
  return header.createdAt === 0 && firstTime !== undefined ? { ...header, createdAt: firstTime } : header
}

async function headerOf(
  { codec, id }: WriterPlace,
  opened: OpenedLog,
  messageFormats: StorageRepairOptions['messageFormats'],
): Promise<SalvagedHeader> {
  try {
    return { dialect: await readHeader(opened, codec, id), doubts: [] }
  } catch (error) {
    if (!isSessionError(error, 'CORRUPT')) throw error
    // More than a header: the units behind it are what proves it.
    const prefix = await readBytes(opened.file, opened.path, 0, Math.min(opened.stat.size, 2 * codec.headerBytesMax))
    const found = await codec.salvageHeader(prefix, id, messageFormats)
    if (found === undefined) {
      throw corruptError(opened.path, id, {
        offset: 0,
        message: 'nothing could be salvaged: no header, and no record that proves one',
      })
    }
    return found
  }
}

class RepairPlan {
  readonly #source: ScanSource
  readonly #spans: readonly SalvagedSpan[]
  readonly #messageFormats: StorageRepairOptions['messageFormats']

  constructor(
    source: ScanSource,
    spans: readonly SalvagedSpan[],
    messageFormats: StorageRepairOptions['messageFormats'],
  ) {
    this.#source = source
    this.#spans = spans
    this.#messageFormats = messageFormats
  }

  /** A pass over what can be proven; each decides alike. */
  begin(): SalvagedLog {
    const { version, messageFormat } = this.#source.dialect.header
    return new SalvagedLog({
      judged: version === FORMAT_VERSION,
      messageFormat,
      messageFormats: this.#messageFormats,
      missingMax: this.#unreadableBytes() + UNEXPLAINED_MAX,
      isEndLost: () => this.#isEndLost(),
    })
  }

  /** Every proven event, in order of seq. */
  async *proven(signal: AbortSignal | undefined): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
    let next = 0
    for (const span of this.#spans) {
      if (span.lastSeq < next) continue
      for await (const events of this.#eventsOf(span, Math.max(next, span.firstSeq), signal)) yield events
      next = span.lastSeq + 1
    }
  }

  async *#eventsOf(
    { offset, end, firstSeq, terminated }: SalvagedSpan,
    from: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
    const options = { from, to: Number.MAX_SAFE_INTEGER, elideChunks: false }
    for await (const page of scanForward({ ...this.#source, end, terminated }, { offset, seq: firstSeq }, options)) {
      signal?.throwIfAborted()
      yield page.records.filter((record): record is AnySessionEvent => !isElided(record))
    }
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

  /**
   * Whether unreadable bytes stand behind the newest record. Where records were moved nothing tells where theirs stood, so
   * any do. A torn tail counts as well: that it was never acknowledged is not believed of a log that is damaged.
   */
  #isEndLost(): boolean {
    const spans = this.#spans
    const isInOrder = spans.every(({ offset }, index) => index === 0 || offset >= (spans[index - 1]?.end ?? 0))
    const newest = isInOrder ? (spans.at(-1)?.offset ?? 0) : 0
    for (const { offset } of this.#unreadable()) if (offset >= newest) return true
    return false
  }

  #unreadableBytes(): number {
    let sum = 0
    for (const { bytes } of this.#unreadable()) sum += bytes
    return sum
  }

  *lostBytes(): Generator<Lost, void, undefined> {
    for (const { offset, bytes } of this.#unreadable()) {
      yield { message: `${bytes} bytes hold no record that can be proven`, offset, bytes }
    }
  }
}
