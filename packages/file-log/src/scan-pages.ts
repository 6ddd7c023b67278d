/** Walks a log in bounded steps, forwards and backwards, and hands out pages of checked records. */
import type { StoredRecord } from '@session-persistence/core'
import type { OpenFile } from './file-system.ts'
import type { Damage, LogCodec, LogDialect, ScanOptions, ScanPosition, Window } from './log-codec.ts'
import { PAGE_BYTES, PageBuffer } from './page-buffer.ts'
import type { ScanStart } from './seek.ts'

const GROWTH = 4

/** The part of a log that is walked. */
export interface ScanSource {
  readonly file: OpenFile
  readonly path: string
  readonly codec: LogCodec
  readonly dialect: LogDialect
  /** Offset behind the last unit. */
  readonly end: number
  /** False when the unit that ends there lacks its terminator. */
  readonly terminated: boolean
}

export interface ScanPage {
  readonly records: readonly StoredRecord[]
  readonly position: ScanPosition
  /** Offset behind the page. */
  readonly end: number
  readonly damage?: Damage
  readonly notes?: readonly string[]
}

/** Pages from `start` to the end of the source, or up to the first damage, which ends it. */
export async function* scanForward(
  source: ScanSource,
  start: ScanStart,
  options: ScanOptions,
): AsyncGenerator<ScanPage, void, undefined> {
  let offset = start.offset
  let position: ScanPosition = {
    nextSeq: start.seq,
    // Elsewhere the scan may start inside a batch.
    batchSeq: start.offset === source.dialect.dataStart && start.seq === 0 ? 0 : undefined,
  }
  const buffer = new PageBuffer(source)
  const how = source.terminated ? options : { ...options, unterminated: true }
  try {
    while (offset < source.end) {
      const page = await source.dialect.scan(await buffer.next(offset), position, how)
      if (page.end === offset && page.damage === undefined) {
        // Not one whole unit, and then only because it is longer than a page.
        if (position.nextSeq !== undefined && position.nextSeq > options.to) return
        if (await buffer.widen(offset)) continue
        yield { records: [], position, end: offset, damage: endless(source, offset, position.nextSeq) }
        return
      }
      offset = page.end
      position = page.position
      yield page
      if (page.damage !== undefined) return
      // Everything behind the range is left unread.
      if (position.nextSeq !== undefined && position.nextSeq > options.to) return
    }
  } finally {
    await buffer.close()
  }
}

/** Pages from the unit that ends at `end.offset`, the last before `end.seq`, back to the start, newest record first. */
export async function* scanBackward(
  source: ScanSource,
  end: ScanStart,
  options: ScanOptions,
): AsyncGenerator<ScanPage, void, undefined> {
  const buffer = new PageBuffer(source)
  const { dataStart } = source.dialect
  let length = PAGE_BYTES
  let high = end.offset
  let seq = end.seq - 1
  while (high > dataStart && seq >= options.from) {
    const low = Math.max(dataStart, high - length)
    const window = await buffer.read(low, high)
    const start =
      source.dialect.pageStart?.(window) ?? (low === dataStart ? low : source.dialect.firstUnitStart(window))
    if (start === undefined) {
      if (length > 2 * source.codec.unitBytesMax) {
        yield { records: [], position: unknown(seq), end: high, damage: endless(source, low, seq) }
        return
      }
      length *= GROWTH
      continue
    }
    length = PAGE_BYTES
    const page = await scanWhole(source, window, start, options)
    if (page.damage === undefined && page.position.nextSeq !== seq + 1) {
      yield { records: [], position: page.position, end: high, damage: gap(start, seq, page.position.nextSeq) }
      return
    }
    yield { ...page, records: [...page.records].reverse() }
    if (page.damage !== undefined) return
    seq = page.firstSeq - 1
    high = start
  }
}

/** Scans `[start, end)` of a window; behind damage it goes on with what can still be verified, and reports the last damage. */
async function scanWhole(
  source: ScanSource,
  window: Window,
  start: number,
  options: ScanOptions,
): Promise<ScanPage & { readonly firstSeq: number }> {
  let position: ScanPosition = { nextSeq: undefined, batchSeq: undefined }
  let at = start
  let damage: Damage | undefined
  let records: readonly StoredRecord[] = []
  let firstSeq: number | undefined
  const end = window.offset + window.bytes.length
  for (;;) {
    const rest = { bytes: window.bytes.subarray(at - window.offset), offset: at }
    firstSeq ??= source.dialect.findUnit(rest, at)?.firstSeq ?? 0
    const page = await source.dialect.scan(rest, position, options)
    if (page.damage === undefined) {
      records = records.length === 0 ? page.records : [...records, ...page.records]
      if (page.end < end && page.end > at) {
        at = page.end
        position = page.position
        continue
      }
      return { records, position: page.position, end: page.end, firstSeq, ...(damage && { damage }) }
    }
    damage = page.damage
    records = []
    const next = source.dialect.findUnit(rest, page.end + 1)
    if (next === undefined) return { records: [], position: page.position, end: page.end, firstSeq, damage }
    at = next.offset
    firstSeq = next.firstSeq
    position = { nextSeq: undefined, batchSeq: undefined }
  }
}

function unknown(seq: number): ScanPosition {
  return { nextSeq: seq + 1, batchSeq: undefined }
}

function endless(source: ScanSource, offset: number, seq: number | undefined): Damage {
  return {
    offset,
    message: `a record without an end, or of more than ${source.codec.unitBytesMax} bytes`,
    ...(seq === undefined ? {} : { seq }),
  }
}

function gap(offset: number, seq: number, next: number | undefined): Damage {
  return {
    offset,
    seq,
    message: `expected seq ${seq} at the end of this part`,
    ...(next === undefined ? {} : { found: next - 1 }),
  }
}
