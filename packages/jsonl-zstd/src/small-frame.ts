/**
 * Frames of one short line, made here without a codec: on Node 20 every codec answers through the thread pool, and that
 * hop takes a third of an append (docs/decisions/0009-reading-many-frames.md). Any decoder of Zstandard reads them.
 *
 * There is hardly anything in so few bytes that repeats, so that a frame is one compressed block of literals only (RFC
 * 8878, 3.1.1.3.1): Huffman codes, and no sequences. A block must carry its code with it. One that is made for the bytes
 * of each event would take work and room; here are two that fit the JSON of most events and are short to describe.
 */
import { BLOCK_HEADER_BYTES, FRAME_MAGIC } from './frame-walk.ts'

/** Longer contents, and those of more than one line, have repetitions that a codec finds. */
const CONTENT_BYTES_MAX = 210
const LF = 0x0a
const SINGLE_SEGMENT = 0x20
const FRAME_HEADER_BYTES = 6
const LITERALS_HEADER_BYTES = 3
const HUFFMAN_BLOCK = 2
const HUFFMAN_LITERALS = 2
const NO_SEQUENCES = 0

/** Characters by the bits that each takes. */
type Lengths = { readonly [bits: number]: string }

class HuffmanCode {
  /** Of the tree, as a block carries it (RFC 8878, 4.2.1): the same lengths, as weights and compressed. */
  readonly description: Buffer
  /** By byte; 0 for one that has no code. */
  readonly #lengths: Uint8Array = new Uint8Array(256)
  readonly #codes: Uint8Array = new Uint8Array(256)

  constructor(lengths: Lengths, description: string) {
    this.description = Buffer.from(description, 'hex')
    for (const [bits, characters] of Object.entries(lengths)) {
      for (const byte of Buffer.from(characters, 'latin1')) this.#lengths[byte] = Number(bits)
    }
    // The longest codes come first, those of one length in order of their bytes.
    let next = 0
    for (let bits = 8; bits > 0; bits--) {
      for (let byte = 0; byte < 256; byte++) if (this.#lengths[byte] === bits) this.#codes[byte] = next++
      next >>>= 1
    }
  }

  /** Bytes that {@link write} takes; undefined where a byte has no code. */
  size(content: Buffer): number | undefined {
    let bits = 0
    for (let at = 0; at < content.length; at++) {
      const length = this.#lengths[content[at] as number] as number
      if (length === 0) return undefined
      bits += length
    }
    // One bit marks the end.
    return (bits >>> 3) + 1
  }

  /** A stream is read from its end: the last byte of the content is written first. */
  write(content: Buffer, into: Buffer, start: number): void {
    let at = start
    let pending = 0
    let count = 0
    for (let index = content.length - 1; index >= 0; index--) {
      const byte = content[index] as number
      pending |= (this.#codes[byte] as number) << count
      count += this.#lengths[byte] as number
      if (count < 8) continue
      into[at++] = pending
      pending >>>= 8
      count -= 8
    }
    into[at] = pending | (1 << count)
  }
}

const CODES: readonly HuffmanCode[] = [
  // What nearly all deltas consist of.
  new HuffmanCode(
    { 2: '"', 4: ',0:ent', 5: 'as', 7: '\n -./123456789I\\_bcdfghijklmopqruvwxyz{}' },
    '1a81ea20c7d2b764dfed5baf5387f7b72bbdcf93bcca0620401871',
  ),
  // All of ASCII.
  new HuffmanCode(
    {
      2: '"',
      4: ',0et',
      5: ':ins',
      6: '1ar',
      8: "\n !#$%&'()*+-./23456789;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`bcdfghjklmopquvwxyz{|}~",
    },
    '1c907648637cbe4c0b0bb9021400800506b3d0ef0200000000c488c443',
  ),
]

/** A frame of this line, without a content checksum; undefined where a codec would do better, or nothing would. */
export function smallFrame(content: Buffer): Buffer | undefined {
  if (content.length > CONTENT_BYTES_MAX || content.indexOf(LF) !== content.length - 1) return undefined
  for (const code of CODES) {
    const size = code.size(content)
    if (size === undefined) continue
    const literals = code.description.length + size
    const block = LITERALS_HEADER_BYTES + literals + 1
    return block < content.length ? frameOf(content, code, literals, block) : undefined
  }
  return undefined
}

function frameOf(content: Buffer, code: HuffmanCode, literals: number, block: number): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + BLOCK_HEADER_BYTES + block)
  let at = frame.writeUInt32LE(FRAME_MAGIC, 0)
  frame[at++] = SINGLE_SEGMENT
  frame[at++] = content.length
  at = frame.writeUIntLE((block << 3) | (HUFFMAN_BLOCK << 1) | 1, at, BLOCK_HEADER_BYTES)
  // One stream, and ten bits for each size.
  const sizes = HUFFMAN_LITERALS | (content.length << 4) | (literals << 14)
  at = frame.writeUIntLE(sizes, at, LITERALS_HEADER_BYTES)
  at += code.description.copy(frame, at)
  code.write(content, frame, at)
  frame[frame.length - 1] = NO_SEQUENCES
  return frame
}
