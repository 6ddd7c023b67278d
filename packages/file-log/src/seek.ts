/**
 * Finds where a seq is stored without an index: seqs grow with offsets, and any unit can be verified on its own, so a
 * search over byte offsets needs a handful of small reads whatever the length of the log.
 */
import type { OpenFile } from './file-system.ts'
import type { LogCodec, LogDialect, LogTail, UnitSpan } from './log-codec.ts'
import { PassingBytes } from './read-bytes.ts'

/** Below this a plain scan is cheaper than another probe. */
const CLOSE_BYTES = 64 * 1024
const AIM_BYTES = CLOSE_BYTES / 4
const PROBE_BYTES = 16 * 1024
/** Where units are lines most are shorter than this, and reading less is half of what a probe costs. */
const LINE_PROBE_BYTES = 4 * 1024
const PROBE_BYTES_MAX = 1024 * 1024

/** A place to start a forward scan for a seq: a unit starts at `offset`, and none before it holds the seq. */
export interface ScanStart {
  readonly offset: number
  /** Seq of the first event there. */
  readonly seq: number
}

/** The start for `seq`, at most about {@link CLOSE_BYTES} before it, unless damage lies between. */
export async function seek(
  file: OpenFile,
  path: string,
  codec: LogCodec,
  dialect: LogDialect,
  tail: LogTail,
  seq: number,
): Promise<ScanStart> {
  let low: ScanStart = { offset: dialect.dataStart, seq: 0 }
  // Every unit that starts at or behind this offset holds later seqs only.
  let high: ScanStart = { offset: tail.end, seq: tail.nextSeq }
  if (tail.lastBatch !== undefined && tail.lastBatch.firstSeq <= seq) {
    low = { offset: tail.lastBatch.offset, seq: tail.lastBatch.firstSeq }
  }
  const passing = new PassingBytes(file, path)
  for (let turn = 0; high.offset - low.offset > CLOSE_BYTES && low.seq < seq; turn++) {
    const guess =
      turn % 3 === 2 ? middle(low, high) : interpolated(low, high, seq, turn % 3 === 0 ? -AIM_BYTES : AIM_BYTES)
    const unit = await probe(passing, codec, dialect, guess, high.offset)
    const within = unit?.within
    if (within !== undefined && within.offset > low.offset && unit !== undefined && seq < unit.firstSeq) {
      // Large units are found by one probe each, or left behind as a whole.
      if (within.firstSeq <= seq) return { offset: within.offset, seq: within.firstSeq }
      high = { offset: within.offset, seq: within.firstSeq }
      continue
    }
    if (unit !== undefined && unit.firstSeq <= seq && unit.offset > low.offset) {
      low = { offset: unit.offset, seq: unit.firstSeq }
    } else {
      high = { offset: guess, seq: unit === undefined ? high.seq : Math.min(high.seq, unit.firstSeq) }
    }
  }
  return low
}

function middle(low: ScanStart, high: ScanStart): number {
  return low.offset + Math.floor((high.offset - low.offset) / 2)
}

/** Aims a little before the seq and then a little behind it, so that two probes usually become both ends close to it. */
function interpolated(low: ScanStart, high: ScanStart, seq: number, beside: number): number {
  const span = high.offset - low.offset
  const share = (seq - low.seq) / Math.max(1, high.seq - low.seq)
  const aim = low.offset + Math.floor(span * share) + beside
  return Math.min(high.offset - 1, Math.max(low.offset + 1, aim))
}

/** The first verified unit at or behind `from`; undefined when there is none before `end`. */
export async function probe(
  passing: PassingBytes,
  codec: LogCodec,
  dialect: LogDialect,
  from: number,
  end: number,
): Promise<UnitSpan | undefined> {
  if (codec.landmarkBytes !== undefined) {
    // Nothing before the landmark is looked at again. Each step is longer than the one before: where units are large,
    // another read costs more than the bytes that it need not have read.
    for (let at = from, length = PROBE_BYTES; ; length = Math.min(2 * length, PROBE_BYTES_MAX)) {
      const bytes = await passing.read(at, Math.min(length, end - at))
      const unit = dialect.findUnit({ bytes, offset: at }, from)
      if (unit !== undefined || at + bytes.length >= end || at - from > 2 * codec.unitBytesMax) return unit
      at += bytes.length - (codec.landmarkBytes - 1)
    }
  }
  for (let length = LINE_PROBE_BYTES; ; length *= 8) {
    const bytes = await passing.read(from, Math.min(length, end - from))
    const unit = dialect.findUnit({ bytes, offset: from }, from)
    if (unit !== undefined || from + bytes.length >= end || length > 2 * codec.unitBytesMax) return unit
  }
}
