/** The bytes of one page after another, while the next page is already being read. */
import { WINDOW_KEPT_BYTES, type Window } from './log-codec.ts'
import { findTerminator } from './next-unit.ts'
import { readInto } from './read-bytes.ts'
import type { ScanSource } from './scan-pages.ts'

/** About 1,300 small events: large enough that a hop costs little, small enough for the event loop. */
export const PAGE_BYTES: number = 256 * 1024
/** Room before a page that was read ahead, for the beginning of a unit whose rest it holds. */
const CARRY_BYTES = WINDOW_KEPT_BYTES
const GROWTH = 4

/** Bytes `[from, to)` of the file, being read into `buffer` behind the room for a carry. */
interface Ahead {
  readonly from: number
  readonly to: number
  readonly buffer: Buffer
  readonly filled: Promise<number>
}

export class PageBuffer {
  readonly #source: ScanSource
  /** One is scanned while the other is filled; both have room for a carry and a terminator. */
  #page: Buffer = Buffer.alloc(0)
  #spare: Buffer = Buffer.alloc(0)
  #window: Window = { bytes: this.#page, offset: 0 }
  #ahead: Ahead | undefined
  /** Bytes that the next read must have at least, and what the last one asked for. */
  #wanted = 0
  #asked = 0

  constructor(source: ScanSource) {
    this.#source = source
  }

  /** The bytes from `from` on, at least those that are wanted; then starts to read what follows. */
  async next(from: number): Promise<Window> {
    const { end } = this.#source
    const left = this.#leftFrom(from)
    if (left !== undefined) return left
    const ahead = this.#ahead
    this.#ahead = undefined
    const to = Math.min(end, from + Math.max(PAGE_BYTES, this.#wanted))
    const window = (ahead && (await this.#joined(ahead, from))) ?? (await this.read(from, to))
    const stop = window.offset + window.bytes.length
    if (stop < end) this.#readAhead(stop, Math.min(end, stop + PAGE_BYTES))
    return window
  }

  /** What a scan that took only a part of the page left of it, while that is more than can be carried over. */
  #leftFrom(from: number): Window | undefined {
    const { bytes, offset } = this.#window
    const left = offset + bytes.length - from
    if (this.#wanted > 0 || from <= offset || left <= CARRY_BYTES) return undefined
    this.#asked = left
    this.#window = { bytes: bytes.subarray(from - offset), offset: from }
    return this.#window
  }

  #readAhead(from: number, to: number): void {
    const { file, path } = this.#source
    const needed = CARRY_BYTES + PAGE_BYTES + 1
    const buffer = this.#spare.length >= needed ? this.#spare : Buffer.allocUnsafeSlow(needed)
    this.#spare = Buffer.alloc(0)
    const filled = readInto(file, path, buffer.subarray(CARRY_BYTES, CARRY_BYTES + to - from), from)
    // Whoever waits for it hears of its failure; nobody may.
    filled.catch(() => {})
    this.#ahead = { from, to, buffer, filled }
  }

  /** The page that was read ahead, with the rest of the one before it in front; undefined when it does not fit. */
  async #joined({ from, buffer, filled }: Ahead, start: number): Promise<Window | undefined> {
    const count = await filled
    const carry = from - start
    const before = this.#window
    if (carry < 0 || carry > CARRY_BYTES || this.#wanted > carry + count || start < before.offset) {
      this.#spare = buffer
      return undefined
    }
    before.bytes.copy(buffer, CARRY_BYTES - carry, start - before.offset, from - before.offset)
    this.#spare = this.#page
    this.#page = buffer
    this.#asked = carry + count
    this.#wanted = 0
    return this.#show(CARRY_BYTES - carry, CARRY_BYTES + count, start)
  }

  /** The bytes `[from, to)`, or what is wanted if that is more; fewer where the file ends. */
  async read(from: number, to: number): Promise<Window> {
    const { file, path, end } = this.#source
    const length = Math.max(to - from, Math.min(this.#wanted, end - from))
    this.#wanted = 0
    this.#asked = length
    // One byte more, for a terminator that the file lacks.
    if (this.#page.length < length + 1) this.#page = Buffer.allocUnsafeSlow(length + 1)
    const filled = await readInto(file, path, this.#page.subarray(0, length), from)
    return this.#show(0, filled, from)
  }

  #show(start: number, stop: number, offset: number): Window {
    const { end, terminated, codec } = this.#source
    let length = stop - start
    if (offset + length === end && !terminated && codec.terminator !== undefined) {
      this.#page[start + length++] = codec.terminator
    }
    this.#window = { bytes: this.#page.subarray(start, start + length), offset }
    return this.#window
  }

  /** Makes the next read long enough for the unit that starts at `offset`; false when no legal unit does. */
  async widen(offset: number): Promise<boolean> {
    const { file, path, end, codec } = this.#source
    const seen = this.#asked
    if (seen >= end - offset || seen >= codec.unitBytesMax) return false
    if (codec.terminator === undefined) {
      this.#wanted = seen * GROWTH
      return true
    }
    const limit = Math.min(end, offset + codec.unitBytesMax)
    const stop = await findTerminator(file, path, codec.terminator, offset, limit)
    if (stop === undefined && (limit < end || this.#source.terminated)) return false
    this.#wanted = (stop ?? end) - offset
    return true
  }

  /** Waits for a read that nobody will use: the file may be closed then. */
  async close(): Promise<void> {
    await this.#ahead?.filled.catch(() => {})
  }
}
