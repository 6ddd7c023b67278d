/**
 * Walks Zstandard frames by their structure (RFC 8878, section 3.1), without decoding them: where a frame ends, what it
 * declares, and how much it can hold at most. Magic numbers are looked at only where a frame must start, so that payload
 * which contains one is nothing but payload.
 */
import { SessionError } from '@session-persistence/core'

/** Little-endian, as everything in a frame. */
export const FRAME_MAGIC = 0xfd2fb528
export const SKIPPABLE_MAGIC = 0x184d2a50
/** The last four bits of a skippable frame's magic number are free. */
export const SKIPPABLE_MASK = 0xfffffff0
export const SKIPPABLE_HEADER_BYTES = 8
export const CHECKSUM_BYTES = 4
export const BLOCK_HEADER_BYTES = 3
/** Magic number, descriptor, window, dictionary id, content size. */
export const FRAME_HEADER_BYTES_MAX = 18
/** No block holds more (RFC 8878, 3.1.1.2.4). */
export const BLOCK_CONTENT_BYTES_MAX: number = 128 * 1024
/** A decoder allocates the window that a frame declares: more than the reference decoder takes by default is refused. */
export const WINDOW_BYTES_MAX: number = 128 * 1024 * 1024

export interface FrameHeader {
  /** Offset of the first block header. */
  readonly blocks: number
  /** Bytes of content, where declared. */
  readonly contentSize: number | undefined
  readonly windowSize: number
  /** Whether a content checksum follows the last block. */
  readonly checksum: boolean
}

/** What stands at one place. `incomplete`: it goes on behind the bytes at hand. */
export type FrameWalk =
  | {
      readonly kind: 'frame'
      readonly header: FrameHeader
      readonly end: number
      /** Content bytes at most: exact for raw and repeated blocks, a block's limit for compressed ones. */
      readonly contentMax: number
      /** Whether any block is compressed. */
      readonly compressed: boolean
    }
  | { readonly kind: 'skippable'; readonly end: number }
  | Unfinished

export type Unfinished = { readonly kind: 'incomplete' } | { readonly kind: 'invalid'; readonly why: string }

const INCOMPLETE: Unfinished = { kind: 'incomplete' }

/** The frame that starts at `at`; `end`: where the bytes end. */
export function walkFrame(bytes: Buffer, at: number, end: number = bytes.length): FrameWalk {
  if (end - at < 4) return isMagicStart(bytes, at, end) ? INCOMPLETE : invalid('no frame starts here')
  if ((bytes.readUInt32LE(at) & SKIPPABLE_MASK) >>> 0 === SKIPPABLE_MAGIC) {
    if (end - at < SKIPPABLE_HEADER_BYTES) return INCOMPLETE
    const next = at + SKIPPABLE_HEADER_BYTES + bytes.readUInt32LE(at + 4)
    return next > end ? INCOMPLETE : { kind: 'skippable', end: next }
  }
  const header = readFrameHeader(bytes, at, end)
  if ('kind' in header) return header
  const blockMax = blockContentMax(header)
  let contentMax = 0
  let compressed = false
  for (let next = header.blocks; ; ) {
    if (end - next < BLOCK_HEADER_BYTES) return INCOMPLETE
    const block = readBlockHeader(bytes.readUIntLE(next, BLOCK_HEADER_BYTES), blockMax)
    if (block === undefined) return invalid('a block header is damaged')
    contentMax += block.contentMax
    compressed ||= block.compressed
    next += BLOCK_HEADER_BYTES + block.stored
    if (next > end) return INCOMPLETE
    if (!block.last) continue
    const frameEnd = next + (header.checksum ? CHECKSUM_BYTES : 0)
    return frameEnd > end ? INCOMPLETE : { kind: 'frame', header, end: frameEnd, contentMax, compressed }
  }
}

/** The header of the frame at `at`. */
export function readFrameHeader(bytes: Buffer, at: number, end: number): FrameHeader | Unfinished {
  if (end - at < 4) return isMagicStart(bytes, at, end) ? INCOMPLETE : invalid('no frame starts here')
  if (bytes.readUInt32LE(at) !== FRAME_MAGIC) return invalid('no frame starts here')
  if (end - at < 5) return INCOMPLETE
  const descriptor = bytes[at + 4] ?? 0
  const singleSegment = (descriptor & 0x20) !== 0
  const sizeCode = descriptor >>> 6
  if ((descriptor & 0x08) !== 0) return invalid('its header has a reserved bit set')
  if ((descriptor & 0x03) !== 0) return invalid('it needs a dictionary')
  const sizeBytes = sizeCode === 0 ? (singleSegment ? 1 : 0) : 1 << sizeCode
  const windowBytes = singleSegment ? 0 : 1
  const blocks = at + 5 + windowBytes + sizeBytes
  if (blocks > end) return INCOMPLETE
  const contentSize = readContentSize(bytes, at + 5 + windowBytes, sizeBytes)
  if (contentSize !== undefined && !Number.isSafeInteger(contentSize)) return invalid('it declares an impossible size')
  const windowSize = singleSegment ? (contentSize ?? 0) : windowOf(bytes[at + 5] ?? 0)
  if (windowSize > WINDOW_BYTES_MAX) return invalid('it declares a window beyond the limit')
  return { blocks, contentSize, windowSize, checksum: (descriptor & 0x04) !== 0 }
}

function readContentSize(bytes: Buffer, at: number, length: number): number | undefined {
  if (length === 0) return undefined
  if (length === 1) return bytes[at]
  if (length === 2) return bytes.readUInt16LE(at) + 256
  if (length === 4) return bytes.readUInt32LE(at)
  return Number(bytes.readBigUInt64LE(at))
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >>> 3))
  return base + (base / 8) * (descriptor & 7)
}

export function blockContentMax({ windowSize }: FrameHeader): number {
  return Math.min(windowSize, BLOCK_CONTENT_BYTES_MAX)
}

export interface BlockHeader {
  readonly last: boolean
  /** Bytes of the block in the frame, its header excluded. */
  readonly stored: number
  readonly contentMax: number
  readonly compressed: boolean
}

/** Undefined for a block that no frame may have. */
export function readBlockHeader(value: number, blockMax: number): BlockHeader | undefined {
  const last = (value & 1) === 1
  const size = value >>> 3
  // An empty block in the middle is legal and never written; a hole in a file reads as nothing but such blocks.
  if (size > blockMax || (size === 0 && !last)) return undefined
  switch ((value >>> 1) & 3) {
    case 0:
      return { last, stored: size, contentMax: size, compressed: false }
    case 1:
      return { last, stored: 1, contentMax: size, compressed: false }
    case 2:
      return { last, stored: size, contentMax: blockMax, compressed: true }
    default:
      return undefined
  }
}

/** True when the few bytes at hand may be the start of a frame. */
function isMagicStart(bytes: Buffer, at: number, end: number): boolean {
  for (let index = at; index < end; index++) {
    if (bytes[index] !== ((FRAME_MAGIC >>> (8 * (index - at))) & 0xff)) return false
  }
  return true
}

function invalid(why: string): Unfinished {
  return { kind: 'invalid', why }
}

/** For callers that hold whole frames only. */
export function corruptFrame(why: string, offset: number): SessionError {
  return new SessionError('CORRUPT', `a compressed frame is damaged: ${why}`, { offset })
}
