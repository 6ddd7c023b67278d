/** A fixed run of bytes, compared four at a time: the scan of a log compares a few hundred million of them. */
export class BytePattern {
  readonly length: number
  readonly #words: Int32Array
  readonly #rest: Buffer

  constructor(text: string) {
    const bytes = Buffer.from(text, 'latin1')
    this.length = bytes.length
    this.#words = Int32Array.from({ length: bytes.length >> 2 }, (_, index) => bytes.readInt32LE(4 * index))
    this.#rest = bytes.subarray(4 * this.#words.length)
  }

  /** Whether the bytes of the view at `at` are these. */
  isAt(view: DataView, at: number): boolean {
    if (at < 0 || at + this.length > view.byteLength) return false
    const words = this.#words
    let next = at
    for (let index = 0; index < words.length; index++, next += 4) {
      if (view.getInt32(next, true) !== words[index]) return false
    }
    const rest = this.#rest
    for (let index = 0; index < rest.length; index++) if (view.getUint8(next + index) !== rest[index]) return false
    return true
  }
}
