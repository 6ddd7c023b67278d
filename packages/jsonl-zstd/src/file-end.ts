/** The last bytes of a file, where nearly everything that a search for the end of a log asks for lies. */
import type { ByteSource, Window } from '@session-persistence/file-log'

/** A multiple of the sector size, so that no sector is split where steps start at sectors. */
export const STEP_BYTES: number = 64 * 1024

export class FileEnd {
  readonly #source: ByteSource
  readonly #dataStart: number
  #end: Window | undefined

  /** `dataStart`: nothing before it is asked for. */
  constructor(source: ByteSource, dataStart: number) {
    this.#source = source
    this.#dataStart = dataStart
  }

  get path(): string {
    return this.#source.path
  }

  /** Of the file. */
  get size(): number {
    return this.#source.size
  }

  /** These bytes, without another read where they are among the last ones. */
  async bytes(offset: number, length: number): Promise<Buffer> {
    if (this.#end === undefined) {
      const start = Math.max(this.#dataStart, this.size - STEP_BYTES)
      this.#end = { bytes: await this.#source.read(start, this.size - start), offset: start }
    }
    const at = offset - this.#end.offset
    if (at >= 0 && at + length <= this.#end.bytes.length) return this.#end.bytes.subarray(at, at + length)
    return await this.#source.read(offset, length)
  }
}
