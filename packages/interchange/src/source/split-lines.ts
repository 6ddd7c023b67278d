/**
 * Bytes into lines, at 0x0A only: every other separator (CR, U+2028, U+0085) may stand inside a record. A line is held
 * whole up to a bound; a longer one comes as pieces, so that a file without newlines costs no memory.
 */

/** The longest line that is read as a record, in bytes. What it becomes, twice if it asks for calls, still fits an event. */
export const LINE_BYTES_MAX: number = 30 * 1024 * 1024

/** The size of the pieces that a longer line comes in. */
export const PIECE_BYTES: number = 1024 * 1024

export interface SourceLine {
  /** From 1. */
  readonly number: number
  /** Of the first byte, from the start of the file. */
  readonly offset: number
  /** Without the newline. */
  readonly bytes: Buffer
  /** False for a last line that the file ends in. */
  readonly terminated: boolean
  /** Set on pieces of a line over the bound: 0 for its first one. */
  readonly piece?: number
}

const LF = 0x0a

export class LineSplitter {
  readonly #lineBytesMax: number
  readonly #pieceBytes: number
  #number = 1
  /** Of the first byte in `#parts`. */
  #offset = 0
  #parts: Buffer[] = []
  #length = 0
  #piece: number | undefined

  constructor(lineBytesMax: number = LINE_BYTES_MAX, pieceBytes: number = PIECE_BYTES) {
    this.#lineBytesMax = lineBytesMax
    this.#pieceBytes = pieceBytes
  }

  /** The lines that `chunk` completes. They may share its memory. */
  push(chunk: Buffer): SourceLine[] {
    const lines: SourceLine[] = []
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#hold(chunk.subarray(start, end), lines)
      this.#finish(lines, true)
      start = end + 1
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start), lines)
    return lines
  }

  /** What is left when the file ends without a newline. */
  end(): SourceLine[] {
    const lines: SourceLine[] = []
    if (this.#length > 0 || this.#piece !== undefined) this.#finish(lines, false)
    return lines
  }

  #hold(bytes: Buffer, lines: SourceLine[]): void {
    this.#parts.push(bytes)
    this.#length += bytes.length
    if (this.#piece === undefined && this.#length <= this.#lineBytesMax) return
    this.#piece ??= 0
    while (this.#length > this.#pieceBytes) {
      const all = this.#joined()
      for (let at = 0; at < all.length; at += this.#pieceBytes) {
        const piece = all.subarray(at, at + this.#pieceBytes)
        if (piece.length < this.#pieceBytes) {
          // Copied, so that one short rest does not keep the whole line alive.
          this.#parts = [Buffer.from(piece)]
          this.#length = piece.length
        } else this.#emitPiece(piece, lines)
      }
    }
  }

  #emitPiece(bytes: Buffer, lines: SourceLine[]): void {
    lines.push({ number: this.#number, offset: this.#offset, bytes, terminated: false, piece: this.#piece ?? 0 })
    this.#piece = (this.#piece ?? 0) + 1
    this.#offset += bytes.length
  }

  #joined(): Buffer {
    const [only] = this.#parts
    const all = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts)
    this.#parts = []
    this.#length = 0
    return all
  }

  #finish(lines: SourceLine[], terminated: boolean): void {
    const bytes = this.#joined()
    const place = { number: this.#number, offset: this.#offset, bytes, terminated }
    lines.push(this.#piece === undefined ? place : { ...place, piece: this.#piece })
    this.#number++
    this.#offset += bytes.length + (terminated ? 1 : 0)
    this.#piece = undefined
  }
}
