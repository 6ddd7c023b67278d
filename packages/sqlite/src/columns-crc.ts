/**
 * CRC-32 over short columns, by a table: for a few dozen characters that is faster than a text made for the native
 * function. What is passed on is the state, not the checksum: {@link crcState} and {@link crcOf} turn one into the other.
 */
const POLYNOMIAL = 0xedb88320
const LINE_FEED = 0x0a
const DIGIT_ZERO = 0x30
const ASCII_MAX = 0x7f
const BYTE_BITS = 8

const TABLE: Int32Array = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < BYTE_BITS; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ POLYNOMIAL
  return crc
})

/** The state from which a checksum goes on; of a seed too. */
export function crcState(crc: number): number {
  return ~crc
}

export function crcOf(state: number): number {
  return ~state >>> 0
}

/** Eight digits fit a 32-bit integer, in which divisions are cheap. */
const GROUP = 100_000_000
const GROUP_DIGITS = 8
/** Of a safe integer. */
const DIGITS_MAX = 16
const digits = new Uint8Array(DIGITS_MAX)

/** The decimal digits of a safe integer that is not negative, and a line feed. */
export function decimalLine(state: number, value: number): number {
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
  let crc = state
  for (; at < DIGITS_MAX; at++) crc = next(crc, digits[at] ?? 0)
  return next(crc, LINE_FEED)
}

/** A text for which {@link isShortAscii} holds, and a line feed. */
export function asciiLine(state: number, text: string): number {
  let crc = state
  for (let at = 0; at < text.length; at++) crc = next(crc, text.charCodeAt(at))
  return next(crc, LINE_FEED)
}

/** The code units of any text, big end first. */
export function codeUnits(state: number, text: string): number {
  let crc = state
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    crc = next(next(crc, unit >>> BYTE_BITS), unit & 0xff)
  }
  return crc
}

/** Longer texts, and others, are as rare as they are slow. */
const ASCII_LENGTH_MAX = 64

export function isShortAscii(text: string): boolean {
  if (text.length > ASCII_LENGTH_MAX) return false
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > ASCII_MAX) return false
  return true
}

function next(crc: number, byte: number): number {
  return (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> BYTE_BITS)
}
