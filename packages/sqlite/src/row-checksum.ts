/**
 * The checksum of a row of the `record` table; pure (docs/formats/sqlite.md, `record`). It is taken for every row of every
 * replay. The columns before `data` are some forty characters: a table is faster there than a text made for the
 * native function, which takes the rest.
 */
import { crc32 } from 'node:zlib'
import type { RecordRow } from './row-codec.ts'

const POLYNOMIAL = 0xedb88320
const LINE_FEED = 0x0a
const DIGIT_ZERO = 0x30
const ASCII_MAX = 0x7f

const TABLE: Int32Array = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ POLYNOMIAL
  return crc
})

/** Eight digits fit a 32-bit integer, in which divisions are cheap. */
const GROUP = 100_000_000
const GROUP_DIGITS = 8
/** Of a safe integer. */
const DIGITS_MAX = 16
const digits = new Uint8Array(DIGITS_MAX)

/** Covers everything that a row says, under the session's salt: a row in another session's place does not verify. */
export function recordCrc(row: RecordRow, salt: number): number {
  const { seq, time, events, type, extra, data } = row
  if (time < 0 || events < 0 || !isShortAscii(type) || extra !== null) {
    return crc32(data, crc32(`${seq}\n${time}\n${events}\n${type}\n${extra ?? ''}\n`, salt))
  }
  let crc = ~salt
  crc = decimalLine(crc, seq)
  crc = decimalLine(crc, time)
  crc = decimalLine(crc, events)
  for (let at = 0; at < type.length; at++) crc = next(crc, type.charCodeAt(at))
  crc = next(next(crc, LINE_FEED), LINE_FEED)
  return crc32(data, ~crc >>> 0)
}

/** Longer ones, and others, are as rare as they are slow. */
const TYPE_LENGTH_MAX = 64

function isShortAscii(type: string): boolean {
  if (type.length > TYPE_LENGTH_MAX) return false
  for (let at = 0; at < type.length; at++) if (type.charCodeAt(at) > ASCII_MAX) return false
  return true
}

/** The digits of a safe integer that is not negative, and a line feed. */
function decimalLine(start: number, value: number): number {
  let at = DIGITS_MAX
  let rest = value
  if (rest >= GROUP) {
    rest = Math.floor(value / GROUP)
    let group = value - rest * GROUP
    for (let digit = 0; digit < GROUP_DIGITS; digit++) {
      const tenth = (group / 10) | 0
      digits[--at] = DIGIT_ZERO + group - tenth * 10
      group = tenth
    }
  }
  // What is left of a safe integer is below 2^27.
  do {
    const tenth = (rest / 10) | 0
    digits[--at] = DIGIT_ZERO + rest - tenth * 10
    rest = tenth
  } while (rest > 0)
  let crc = start
  for (; at < DIGITS_MAX; at++) crc = next(crc, digits[at] ?? 0)
  return next(crc, LINE_FEED)
}

function next(crc: number, byte: number): number {
  return (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
}
