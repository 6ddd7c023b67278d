/** Puts the lines of one batch into one buffer, each encoded and summed once. */
import { crc32Of } from './crc.ts'
import { hex } from './header-line.ts'
import type { LineFormat } from './line.ts'
import { escapeLineSeparators } from './line-separators.ts'

/** UTF-8 bytes that one UTF-16 unit takes at most. */
const UNIT_BYTES_MAX = 3
/** Batch mark, checksum, brace and line end. */
const SUFFIX_BYTES_MAX = 64
const FIRST_BYTES = 1024

export class BatchWriter {
  readonly #format: LineFormat
  readonly #batch: string
  #bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #length = 0

  constructor(format: LineFormat, firstSeq: number) {
    this.#format = format
    this.#batch = `,"batch":${firstSeq}`
  }

  /** `json`: one record. */
  add(json: string, last: boolean): void {
    const text = escapeLineSeparators(json)
    this.#reserve(text.length * UNIT_BYTES_MAX + SUFFIX_BYTES_MAX)
    const start = this.#length
    // Without the closing brace, which comes after what is added here.
    this.#length += this.#bytes.write(text, start, 'utf8') - 1
    if (last) this.#length += this.#bytes.write(this.#batch, this.#length, 'latin1')
    const suffix =
      this.#format.checksum === 'none'
        ? '}\n'
        : `,"crc":"${hex(crc32Of(this.#bytes, start, this.#length, this.#format.salt))}"}\n`
    this.#length += this.#bytes.write(suffix, this.#length, 'latin1')
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  #reserve(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
