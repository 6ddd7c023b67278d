/** Single lines on their own: what one says, when it is what was written, and the first such line in a window. Pure over bytes. */
import { isUtf8 } from 'node:buffer'
import { isPackedRun } from '@session-persistence/core'
import {
  type EventEnvelope,
  glanceChunks,
  glanceEvent,
  type UnitSpan,
  type Window,
} from '@session-persistence/file-log'
import { type ChunkEnvelope, hasChunkContent, readChunkEnvelope } from './chunk-line.ts'
import { viewOf } from './crc.ts'
import { contentEnd, LF, type LineFormat, type LineParts, parseRecord, splitLine } from './line.ts'

/** Longer lines are left to the built-in check, which looks at many bytes at once. */
const ASCII_BYTES_MAX = 512
/** The top bits of four bytes. */
const NOT_ASCII = 0x8080_8080 | 0

interface SeqSpan {
  readonly firstSeq: number
  readonly lastSeq: number
}

/** The verified content of one line. */
export interface LineUnit extends SeqSpan {
  readonly lastTime: number
  /** First seq of its batch, or -1 when the batch goes on. */
  readonly batch: number
}

/** The line at `[start, end)`, its terminator excluded, on its own; undefined when it is not what was written. */
export function verifyLine(
  format: LineFormat,
  bytes: Buffer,
  start: number,
  end: number,
  view: DataView = viewOf(bytes),
): LineUnit | undefined {
  return verified(spanOf, format, bytes, start, end, view)
}

/**
 * The same for listings, which look at ten thousand lines: of an event in the usual form, of which a checksum proves the bytes,
 * no more is read than its seq and time.
 */
export function glanceLine(
  format: LineFormat,
  bytes: Buffer,
  start: number,
  end: number,
  view: DataView,
): LineUnit | undefined {
  return verified(glancedSpan, format, bytes, start, end, view)
}

function glancedSpan(
  format: LineFormat,
  bytes: Buffer,
  view: DataView,
  start: number,
  recordEnd: number,
): Omit<LineUnit, 'batch'> | undefined {
  const event: EventEnvelope = { seq: 0, time: 0 }
  if (format.checksum === 'none' || !glanceEvent(bytes, start, event))
    return spanOf(format, bytes, view, start, recordEnd)
  return { firstSeq: event.seq, lastSeq: event.seq, lastTime: event.time }
}

function verified<Span extends SeqSpan>(
  spanIn: (format: LineFormat, bytes: Buffer, view: DataView, start: number, recordEnd: number) => Span | undefined,
  format: LineFormat,
  bytes: Buffer,
  start: number,
  end: number,
  view: DataView,
): (Span & { readonly batch: number }) | undefined {
  const parts: LineParts = { recordEnd: 0, batch: -1 }
  const stop = contentEnd(bytes, start, end)
  if (!splitLine(format, bytes, start, stop, parts, view) || !isText(bytes, view, start, stop)) return undefined
  const span = spanIn(format, bytes, view, start, parts.recordEnd)
  if (span === undefined || parts.batch > span.firstSeq) return undefined
  return { ...span, batch: parts.batch }
}

/** Valid UTF-8; for most lines told without the view that the built-in check needs. */
function isText(bytes: Buffer, view: DataView, start: number, end: number): boolean {
  return (end - start <= ASCII_BYTES_MAX && isAscii(view, start, end)) || isUtf8(bytes.subarray(start, end))
}

function isAscii(view: DataView, start: number, end: number): boolean {
  let all = 0
  let at = start
  for (; at + 4 <= end; at += 4) all |= view.getInt32(at)
  for (; at < end; at++) all |= view.getUint8(at)
  return (all & NOT_ASCII) === 0
}

function spanOf(
  format: LineFormat,
  bytes: Buffer,
  view: DataView,
  start: number,
  recordEnd: number,
): Omit<LineUnit, 'batch'> | undefined {
  const chunk: ChunkEnvelope = { seq: 0, time: 0, turn: 0, step: 0, at: 0 }
  if (
    format.checksum === 'crc32' &&
    readChunkEnvelope(bytes, view, start, chunk) &&
    hasChunkContent(bytes, view, chunk, recordEnd)
  ) {
    return { firstSeq: chunk.seq, lastSeq: chunk.seq, lastTime: chunk.time }
  }
  try {
    const record = parseRecord(bytes, start, recordEnd, undefined)
    const { seq, time } = record
    if (!isPackedRun(record)) return { firstSeq: seq, lastSeq: seq, lastTime: time }
    return {
      firstSeq: seq,
      lastSeq: seq + record.v.length - 1,
      lastTime: record.dt.reduce((sum, gap) => sum + gap, time),
    }
  } catch {
    return undefined
  }
}

/** The seqs of a line alone: those of a packed run, of which a checksum proves the bytes, are told without parsing it. */
function seqsOf(
  format: LineFormat,
  bytes: Buffer,
  view: DataView,
  start: number,
  recordEnd: number,
): SeqSpan | undefined {
  const run = format.checksum === 'crc32' ? glanceChunks(bytes, start, recordEnd) : undefined
  if (run !== undefined) return { firstSeq: run.seq, lastSeq: run.seq + run.count - 1 }
  return spanOf(format, bytes, view, start, recordEnd)
}

/** See `LogDialect.findUnit`. */
export function findLine(format: LineFormat, { bytes, offset }: Window, from: number): UnitSpan | undefined {
  const view = viewOf(bytes)
  // A window may start inside a line: the rest of a line does not verify.
  for (let start = Math.max(0, from - offset); start < bytes.length; ) {
    const end = bytes.indexOf(LF, start)
    if (end === -1) return undefined
    const unit = verified(seqsOf, format, bytes, start, end, view)
    if (unit !== undefined) {
      return { offset: offset + start, end: offset + end + 1, firstSeq: unit.firstSeq, lastSeq: unit.lastSeq }
    }
    start = end + 1
  }
  return undefined
}
