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
import { crc32Of } from './crc.ts'

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
const CRC_BEFORE = Buffer.from(',"crc":"')
const CRC_AFTER = Buffer.from('"}')
export const CRC_BYTES: number = CRC_BEFORE.length + 8 + CRC_AFTER.length
const BATCH_BEFORE = Buffer.from(',"batch":')
/** Digits of the largest safe integer. */
const DIGITS_MAX = 16

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
export function splitLine(format: LineFormat, bytes: Buffer, start: number, end: number, parts: LineParts): boolean {
  let recordEnd: number
  if (format.checksum === 'crc32') {
    recordEnd = end - CRC_BYTES
    if (recordEnd <= start || !endsWithCrc(bytes, recordEnd)) return false
    const stored = hexAt(bytes, recordEnd + CRC_BEFORE.length)
    if (stored === -1 || stored !== crc32Of(bytes, start, recordEnd, format.salt)) return false
  } else {
    recordEnd = end - 1
    if (recordEnd <= start || bytes[recordEnd] !== CLOSE) return false
  }
  parts.batch = -1
  parts.recordEnd = recordEnd
  findBatch(bytes, start, recordEnd, parts)
  return true
}

function endsWithCrc(bytes: Buffer, at: number): boolean {
  for (let index = 0; index < CRC_BEFORE.length; index++) if (bytes[at + index] !== CRC_BEFORE[index]) return false
  const after = at + CRC_BEFORE.length + 8
  return bytes[after] === CRC_AFTER[0] && bytes[after + 1] === CRC_AFTER[1]
}

/** Eight lowercase hex digits, or -1. Exactly these: a flipped bit must not turn a digit into an equal one. */
export function hexAt(bytes: Buffer, at: number): number {
  let value = 0
  for (let index = at; index < at + 8; index++) {
    const code = bytes[index] ?? 0
    let digit: number
    if (code >= ZERO && code <= NINE) digit = code - ZERO
    else if (code >= 0x61 && code <= 0x66) digit = code - 0x57
    else return -1
    value = value * 16 + digit
  }
  return value
}

/** A record ends with `}`, `]`, `"`, `e`, `l` or a digit of its data; only a batch mark reads `,"batch":` and digits at the end. */
function findBatch(bytes: Buffer, start: number, end: number, parts: LineParts): void {
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
  if (at === end || mark <= start) return
  for (let index = 0; index < BATCH_BEFORE.length; index++) if (bytes[mark + index] !== BATCH_BEFORE[index]) return
  parts.batch = value
  parts.recordEnd = mark
}

/** The JSON text of the record at `[start, recordEnd)`, closed again. The bytes are as before when it returns. */
function recordText(bytes: Buffer, start: number, recordEnd: number): string {
  const before = bytes[recordEnd] ?? COMMA
  bytes[recordEnd] = CLOSE
  const text = bytes.toString('utf8', start, recordEnd + 1)
  bytes[recordEnd] = before
  return text
}

/** The record of a line that `splitLine` accepted; throws CORRUPT, or SyntaxError for what is not JSON. */
export function parseRecord(
  bytes: Buffer,
  start: number,
  recordEnd: number,
  expectedSeq: number | undefined,
): AnySessionEvent | PackedRun {
  const text = recordText(bytes, start, recordEnd)
  const record: unknown = JSON.parse(text)
  return isPackedRun(record) ? decodePackedRun(record, expectedSeq) : decodeEvent(record, expectedSeq, text.length)
}
