/**
 * One line: where its parts are, and whether it is what was written.
 *
 *     {"seq":7,…,"data":{…}            the record, without its closing brace
 *                          ,"batch":5           on the last line of a batch: seq of the batch's first event
 *                          ,"crc":"0a1b2c3d"    CRC-32, seeded with the salt, over everything before it
 *                          }
 */
import {
  type AnySessionEvent,
  decodeEvent,
  decodePackedRun,
  isPackedRun,
  type PackedRun,
} from '@session-persistence/core'
import { parsePackedRunLine } from '@session-persistence/file-log'
import { BytePattern } from './byte-pattern.ts'
import { crc32Of, viewOf } from './crc.ts'

export type Checksum = 'crc32' | 'none'

/** How the lines of one log are checked. */
export interface LineFormat {
  readonly checksum: Checksum
  /** Seed of every CRC, so that a line of another log does not pass. */
  readonly salt: number
}

export const LF = 0x0a
export const CR = 0x0d
const ZERO = 0x30
const NINE = 0x39
const COMMA = 0x2c
const CLOSE = 0x7d
/** `,"crc":"` + 8 digits + `"}` */
const CRC_BEFORE = new BytePattern(',"crc":"')
const CRC_AFTER = new BytePattern('"}')
export const CRC_BYTES: number = CRC_BEFORE.length + 8 + CRC_AFTER.length
const BATCH_BEFORE = new BytePattern(',"batch":')
/** Digits of the largest safe integer. */
const DIGITS_MAX = 16

/** Said in `check`. */
export const FOREIGN_LINE_ENDS = 'lines end with CR LF: another tool has written this file'

/** The end of the line's content for a line that ends at `end`, its terminator excluded: a CR that a tool added is not part of it. */
export function contentEnd(bytes: Buffer, start: number, end: number): number {
  return end > start && bytes[end - 1] === CR ? end - 1 : end
}

/**
 * The parts of a line. One object is filled again for each line: a replay makes millions of them.
 */
export interface LineParts {
  /** Where the record ends: its closing brace belongs there. */
  recordEnd: number
  /** The batch's first seq, or -1 on a line that does not end a batch. */
  batch: number
}

/** Fills `parts` and returns true when the line at `[start, end)` has the right form and checksum. */
export function splitLine(
  format: LineFormat,
  bytes: Buffer,
  start: number,
  end: number,
  parts: LineParts,
  view: DataView = viewOf(bytes),
): boolean {
  let recordEnd: number
  if (format.checksum === 'crc32') {
    recordEnd = end - CRC_BYTES
    if (recordEnd <= start || !CRC_BEFORE.isAt(view, recordEnd) || !CRC_AFTER.isAt(view, end - 2)) return false
    const stored = hexAt(bytes, recordEnd + CRC_BEFORE.length)
    if (stored === -1 || stored !== crc32Of(bytes, view, start, recordEnd, format.salt)) return false
  } else {
    recordEnd = end - 1
    if (recordEnd <= start || bytes[recordEnd] !== CLOSE) return false
  }
  parts.batch = -1
  parts.recordEnd = recordEnd
  const last = bytes[recordEnd - 1] ?? 0
  if (last >= ZERO && last <= NINE) findBatch(bytes, view, start, recordEnd, parts)
  return true
}

/** Values of lowercase hex digits; 255 for any other byte: a flipped bit must not turn a digit into an equal one. */
const HEX_VALUES: Uint8Array = new Uint8Array(256).fill(255)
for (const [value, digit] of [...'0123456789abcdef'].entries()) HEX_VALUES[digit.charCodeAt(0)] = value

/** Eight lowercase hex digits, or -1. */
export function hexAt(bytes: Buffer, at: number): number {
  let value = 0
  for (let index = at; index < at + 8; index++) {
    const digit = HEX_VALUES[bytes[index] ?? 0] ?? 255
    if (digit === 255) return -1
    value = (value << 4) | digit
  }
  return value >>> 0
}

/** A record may end with a digit of its data; only a batch mark reads `,"batch":` and digits at the end. */
function findBatch(bytes: Buffer, view: DataView, start: number, end: number, parts: LineParts): void {
  let at = end
  let value = 0
  let scale = 1
  for (; at > start && end - at <= DIGITS_MAX; at--) {
    const code = bytes[at - 1] ?? 0
    if (code < ZERO || code > NINE) break
    value += (code - ZERO) * scale
    scale *= 10
  }
  const mark = at - BATCH_BEFORE.length
  if (mark <= start || !BATCH_BEFORE.isAt(view, mark)) return
  parts.batch = value
  parts.recordEnd = mark
}

/**
 * The record of a line that `splitLine` accepted, which must be valid UTF-8; throws CORRUPT, or SyntaxError for what is
 * not JSON. The bytes are as before when it returns.
 */
export function parseRecord(
  bytes: Buffer,
  start: number,
  recordEnd: number,
  expectedSeq: number | undefined,
): AnySessionEvent | PackedRun {
  const before = bytes[recordEnd] ?? COMMA
  bytes[recordEnd] = CLOSE
  const run = parsePackedRunLine(bytes, start, recordEnd + 1)
  const text = run === undefined ? bytes.toString('utf8', start, recordEnd + 1) : ''
  bytes[recordEnd] = before
  if (run !== undefined) return decodePackedRun(run, expectedSeq)
  const record: unknown = JSON.parse(text)
  return isPackedRun(record) ? decodePackedRun(record, expectedSeq) : decodeEvent(record, expectedSeq, text.length)
}
