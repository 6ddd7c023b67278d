/**
 * Explicit salvage of a corrupt log (events-and-recovery.md, what a crash leaves). Every record that can be proven is
 * kept in order of seq, however its line was moved, repeated or glued to another. Where seqs are missing between, an
 * ignorable event `session-persistence/lost` stands for each, so that everything behind keeps its seq; and where the
 * rest cannot follow what was lost (a turn whose start is gone), the log ends before it. The original stays beside it.
 */
import {
  type AnySessionEvent,
  FORMAT_VERSION,
  isElided,
  isSessionError,
  LogFold,
  type SessionHeader,
  type StorageRepair,
} from '@session-persistence/core'
import { checkLog } from './check.ts'
import { attempt } from './io-error.ts'
import type { LogDialect } from './log-codec.ts'
import { corruptError, type OpenedLog, openLog, readHeader } from './log-snapshot.ts'
import type { WriterPlace } from './log-writer.ts'
import { readBytes } from './read-bytes.ts'
import { rewriteLog } from './rewrite.ts'
import { type SalvagedSpan, salvageSpans } from './salvage-plan.ts'
import { type ScanSource, scanForward } from './scan-pages.ts'

/** Type of the event that stands for one that could not be read. */
export const LOST_EVENT_TYPE = 'session-persistence/lost'
/** Suffix of the kept original. */
const ORIGINAL = 'damaged'
/** Missing seqs that are filled beyond what the unreadable bytes could have held: a forged seq must not fill the disk. */
const UNEXPLAINED_MAX = 100_000
const PAGE_EVENTS = 1000

type Lost = StorageRepair['lost'][number]

/** `dryRun` reads without a lock; otherwise the caller holds it. A log without damage is left as it is. */
export async function repairLog(
  place: WriterPlace,
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal?: AbortSignal },
): Promise<StorageRepair> {
  const { fs, layout, codec, name, id, durable } = place
  const directory = layout.directory(name)
  const check = await checkLog({ fs, layout, codec }, directory, id, signal)
  if (check.problems.length === 0) {
    // Perhaps the work of a repair that died, or could not sync, after its rename.
    if (!dryRun && durable) await attempt('sync the session directory', directory, () => fs.syncDirectory(directory))
    return { dryRun, kept: check.events, lost: [] }
  }
  const opened = await openLog(fs, layout, directory, id)
  try {
    const { dialect, doubts } = await headerOf(place, opened)
    const { file, path, stat } = opened
    const source: ScanSource = { file, path, codec, dialect, end: stat.size, terminated: true }
    const spans = await salvageSpans(source, signal)
    const plan = new RepairPlan(source, spans, doubts)
    const kept = await plan.judge(signal)
    if (dryRun) return { dryRun, kept, lost: plan.lost }
    const header = plan.header(dialect.header)
    const { originalAt, log, unsynced } = await rewriteLog(place, header, plan.events(kept, signal), ORIGINAL)
    await log.close()
    // In place, and perhaps not for good: nobody may be told that it is done. Asking again settles it.
    if (unsynced !== undefined) throw unsynced
    return { dryRun, kept, lost: plan.lost, ...(originalAt === undefined ? {} : { originalAt }) }
  } finally {
    await opened.file.close().catch(() => {})
  }
}

async function headerOf(
  { codec, id }: WriterPlace,
  opened: OpenedLog,
): Promise<{ readonly dialect: LogDialect; readonly doubts: readonly string[] }> {
  try {
    return { dialect: await readHeader(opened, codec, id), doubts: [] }
  } catch (error) {
    if (!isSessionError(error, 'CORRUPT')) throw error
    // More than a header: the units behind it are what proves it.
    const prefix = await readBytes(opened.file, opened.path, 0, Math.min(opened.stat.size, 2 * codec.headerBytesMax))
    const found = codec.salvageHeader(prefix, id)
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
  readonly lost: Lost[] = []
  readonly #source: ScanSource
  readonly #spans: readonly SalvagedSpan[]
  #reporting = true
  #firstTime: number | undefined

  constructor(source: ScanSource, spans: readonly SalvagedSpan[], doubts: readonly string[]) {
    this.#source = source
    this.#spans = spans
    for (const message of doubts) this.lost.push({ message })
  }

  /** A header whose time could not be told takes the time of the first event. */
  header(header: SessionHeader): SessionHeader {
    return header.createdAt === 0 && this.#firstTime !== undefined ? { ...header, createdAt: this.#firstTime } : header
  }

  /** Decides how many events the repaired log has, and says what is lost. */
  async judge(signal: AbortSignal | undefined): Promise<number> {
    const fold = this.#source.dialect.header.version === FORMAT_VERSION ? new LogFold() : undefined
    let kept = 0
    for await (const { event, proven } of this.#walk(signal)) {
      this.#firstTime ??= event.time
      try {
        fold?.accept(event)
      } catch (error) {
        if (!isSessionError(error)) throw error
        const to = this.#spans.reduce((most, { lastSeq }) => Math.max(most, lastSeq), event.seq)
        this.lost.push({ message: `events that cannot follow what was lost (${error.message})`, from: event.seq, to })
        break
      }
      // Stand-ins at the end stand for nothing.
      if (proven) kept = event.seq + 1
    }
    this.#reportBytes()
    return kept
  }

  async *events(
    kept: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
    this.#reporting = false
    let page: AnySessionEvent[] = []
    for await (const { event } of this.#walk(signal)) {
      if (event.seq >= kept) break
      page.push(event)
      if (page.length < PAGE_EVENTS) continue
      yield page
      page = []
    }
    if (page.length > 0) yield page
  }

  /** Proven events and stand-ins in order of seq. */
  async *#walk(
    signal: AbortSignal | undefined,
  ): AsyncGenerator<{ readonly event: AnySessionEvent; readonly proven: boolean }, void, undefined> {
    const missingMax = this.#unreadableBytes() + UNEXPLAINED_MAX
    let missing = 0
    let next = 0
    let time: number | undefined
    for (const span of this.#spans) {
      if (span.lastSeq < next) continue
      const gap = span.firstSeq - next
      if (gap > 0) {
        missing += gap
        this.#reportGap(next, span.firstSeq - 1, missing > missingMax)
        if (missing > missingMax) return
      }
      for await (const event of this.#eventsOf(span, Math.max(next, span.firstSeq), signal)) {
        time ??= event.time
        for (; next < event.seq; next++) yield { event: lostEvent(next, time), proven: false }
        yield { event, proven: true }
        time = event.time
        next = event.seq + 1
      }
    }
  }

  async *#eventsOf(
    { offset, end, firstSeq, terminated }: SalvagedSpan,
    from: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<AnySessionEvent, void, undefined> {
    const options = { from, to: Number.MAX_SAFE_INTEGER, elideChunks: false }
    for await (const page of scanForward({ ...this.#source, end, terminated }, { offset, seq: firstSeq }, options)) {
      signal?.throwIfAborted()
      for (const record of page.records) if (!isElided(record)) yield record
    }
  }

  #reportGap(from: number, to: number, unbelievable: boolean): void {
    if (!this.#reporting) return
    const what = from === to ? 'an event is lost' : `${to - from + 1} events are lost`
    const then = unbelievable
      ? ', more than could be stored here: the log ends before them'
      : from === to
        ? '; an empty event takes its place'
        : '; empty events take their places'
    this.lost.push({ message: `${what}${then}`, from, to })
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

  #reportBytes(): void {
    for (const { offset, bytes } of this.#unreadable()) {
      this.lost.push({ message: `${bytes} bytes hold no record that can be proven`, offset, bytes })
    }
  }
}

function lostEvent(seq: number, time: number): AnySessionEvent {
  return { seq, time, type: LOST_EVENT_TYPE, data: {}, ignorable: true }
}
