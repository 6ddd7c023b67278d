/** Puts the lines of one batch into one buffer, each encoded and summed once. */

import { escapeLineSeparators } from '@session-persistence/file-log'
import { crc32Of, viewOf } from './crc.ts'
import type { LineFormat } from './line.ts'

/** UTF-8 bytes that one UTF-16 unit takes at most. */
const UNIT_BYTES_MAX = 3
/** Batch mark, checksum, brace and line end. */
const SUFFIX_BYTES_MAX = 64
/** What a small event takes, with room for its neighbours. */
const LINE_BYTES = 320
const HEX_DIGITS = Buffer.from('0123456789abcdef')
const CRC_BEFORE = Buffer.from(',"crc":"')
const CRC_AFTER = Buffer.from('"}\n')
const CLOSE = 0x7d
const LF = 0x0a

export class BatchWriter {
  readonly #format: LineFormat
  readonly #batch: string
  #bytes: Buffer
  #view: DataView
  #length = 0

  /** `lines`: how many will come, and `likely` bytes, to be about right about the room they need. */
  constructor(format: LineFormat, firstSeq: number, lines: number, likely = 0) {
    this.#format = format
    this.#batch = `,"batch":${firstSeq}`
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(likely, LINE_BYTES * lines))
    this.#view = viewOf(this.#bytes)
  }

  /** `json`: one record. */
  add(json: string, last: boolean): void {
    const text = escapeLineSeparators(json)
    this.#reserve(text)
    const start = this.#length
    // Without the closing brace, which comes after what is added here.
    this.#length += this.#bytes.write(text, start, 'utf8') - 1
    if (last) this.#length += this.#bytes.write(this.#batch, this.#length, 'latin1')
    if (this.#format.checksum === 'none') {
      this.#bytes[this.#length++] = CLOSE
      this.#bytes[this.#length++] = LF
    } else {
      this.#addChecksum(crc32Of(this.#bytes, this.#view, start, this.#length, this.#format.salt))
    }
  }

  /** Byte by byte: a call to write so few costs more than they do. */
  #addChecksum(crc: number): void {
    const bytes = this.#bytes
    let at = this.#length
    for (let index = 0; index < CRC_BEFORE.length; index++) bytes[at++] = CRC_BEFORE[index] ?? 0
    for (let shift = 28; shift >= 0; shift -= 4) bytes[at++] = HEX_DIGITS[(crc >>> shift) & 15] ?? 0
    for (let index = 0; index < CRC_AFTER.length; index++) bytes[at++] = CRC_AFTER[index] ?? 0
    this.#length = at
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  #reserve(text: string): void {
    const free = this.#bytes.length - this.#length - SUFFIX_BYTES_MAX
    if (text.length * UNIT_BYTES_MAX <= free) return
    const bytes = Buffer.byteLength(text, 'utf8')
    if (bytes <= free) return
    const needed = this.#length + bytes + SUFFIX_BYTES_MAX
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
    this.#view = viewOf(larger)
  }
}
