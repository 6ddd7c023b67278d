/**
 * The content of a frame: one record a line, in order of seq, each an event's canonical JSON or a packed run (core,
 * `packed-run`); every line ends with one LF, U+2028 and U+2029 stand as escapes. Nothing here carries a checksum: the
 * frame around it does.
 */
import { type AnySessionEvent, eventJson, isPackedRun, type PackedRun, packedRunJson } from '@session-persistence/core'
import { escapeLineSeparators } from '@session-persistence/file-log'

/** UTF-8 bytes that one UTF-16 unit takes at most. */
const UNIT_BYTES_MAX = 3
/** From here on a text's bytes are counted, so that a large one takes no more memory than it needs. */
const COUNTED_UNITS_MIN = 64 * 1024
/** A writer keeps a buffer of up to this size for the next lines: growing it again would cost a quarter of writing them. */
const KEPT_BYTES_MAX = 1024 * 1024
const FIRST_BYTES = 1024

/** Collects lines in one growing buffer: half the cost of joining strings, and no limit on the length of one. */
export class LineWriter {
  #bytes: Buffer = Buffer.allocUnsafe(FIRST_BYTES)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(record: AnySessionEvent | PackedRun): void {
    const text = escapeLineSeparators(isPackedRun(record) ? packedRunJson(record) : eventJson(record))
    this.#reserve((text.length < COUNTED_UNITS_MIN ? text.length * UNIT_BYTES_MAX : Buffer.byteLength(text)) + 1)
    this.#length += this.#bytes.write(text, this.#length, 'utf8')
    this.#bytes[this.#length++] = 0x0a
  }

  /** The lines so far; the next ones start anew. */
  take(): Buffer {
    const lines = this.#bytes.subarray(0, this.#length)
    this.#length = 0
    if (this.#bytes.length <= KEPT_BYTES_MAX) return Buffer.from(lines)
    this.#bytes = Buffer.allocUnsafe(FIRST_BYTES)
    return lines
  }

  /** The lines of these records alone: what an `add` that failed left is dropped. */
  linesOf(records: readonly (AnySessionEvent | PackedRun)[]): Buffer {
    this.#length = 0
    for (const record of records) this.add(record)
    return this.take()
  }

  #reserve(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
