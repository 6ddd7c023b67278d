/**
 * One batch as one frame. Whatever header the codec wrote is replaced by the smallest that declares the exact content
 * size and the content checksum: a decoder then allocates no more than the content needs, and refuses a frame that holds
 * anything else than it declares.
 *
 *     magic 4 | descriptor 1 | [window 1] | content size 1, 2 or 4 | blocks | content checksum 4
 */
import { SessionError } from '@session-persistence/core'
import { contentChecksum } from './content-checksum.ts'
import {
  BLOCK_CONTENT_BYTES_MAX,
  BLOCK_HEADER_BYTES,
  CHECKSUM_BYTES,
  corruptFrame,
  FRAME_MAGIC,
  type FrameHeader,
  type FrameWalk,
  walkFrame,
} from './frame-walk.ts'
import type { ZstdCodec } from './zstd-codec.ts'

const CHECKSUM_FLAG = 0x04
const SINGLE_SEGMENT_FLAG = 0x20
/** Up to here the content itself is the window; beyond, the codec's own window keeps a decoder's memory down. */
const SINGLE_SEGMENT_BYTES_MAX = 2 * 1024 * 1024

/** The frame of `content`, checksummed, ready to be written; `room` more bytes behind it are for the caller to fill. */
export async function encodeFrame(codec: ZstdCodec, content: Buffer, room = 0): Promise<Buffer> {
  const compressing = codec.compress(content)
  // Worked out while the codec works. Should this fail, nobody waits for the codec.
  if (compressing instanceof Promise) compressing.catch(() => {})
  const checksum = await contentChecksum(content)
  const made = await compressing
  const walk = walkFrame(made, 0)
  if (walk.kind !== 'frame' || walk.end !== made.length) {
    throw new SessionError('INVARIANT', `the codec ${codec.name} did not make one whole frame`)
  }
  const blocksEnd = walk.end - (walk.header.checksum ? CHECKSUM_BYTES : 0)
  const header = frameHeader(content.length, walk.header)
  const end = header.length + (blocksEnd - walk.header.blocks) + CHECKSUM_BYTES
  const frame = Buffer.allocUnsafe(end + room)
  header.copy(frame, 0)
  made.copy(frame, header.length, walk.header.blocks, blocksEnd)
  frame.writeUInt32LE(checksum, end - CHECKSUM_BYTES)
  return frame
}

/** A frame of raw blocks: its content can be read without a codec. */
export async function encodeRawFrame(content: Buffer): Promise<Buffer> {
  const header = frameHeader(content.length, undefined)
  const parts: Buffer[] = [header]
  for (let at = 0; at === 0 || at < content.length; at += BLOCK_CONTENT_BYTES_MAX) {
    const block = content.subarray(at, at + BLOCK_CONTENT_BYTES_MAX)
    const last = at + BLOCK_CONTENT_BYTES_MAX >= content.length
    const blockHeader = Buffer.allocUnsafe(BLOCK_HEADER_BYTES)
    blockHeader.writeUIntLE((block.length << 3) | (last ? 1 : 0), 0, BLOCK_HEADER_BYTES)
    parts.push(blockHeader, block)
  }
  const checksum = Buffer.allocUnsafe(CHECKSUM_BYTES)
  checksum.writeUInt32LE(await contentChecksum(content))
  return Buffer.concat([...parts, checksum])
}

/** The content of a frame of raw blocks; undefined when it has others. */
export function readRawFrame(bytes: Buffer, walk: FrameWalk & { readonly kind: 'frame' }): Buffer | undefined {
  const parts: Buffer[] = []
  for (let at = walk.header.blocks; ; ) {
    const value = bytes.readUIntLE(at, BLOCK_HEADER_BYTES)
    if (((value >>> 1) & 3) !== 0) return undefined
    at += BLOCK_HEADER_BYTES
    parts.push(bytes.subarray(at, at + (value >>> 3)))
    if ((value & 1) === 1) return parts.length === 1 ? parts[0] : Buffer.concat(parts)
    at += value >>> 3
  }
}

function frameHeader(size: number, made: FrameHeader | undefined): Buffer {
  const header = Buffer.alloc(10)
  header.writeUInt32LE(FRAME_MAGIC, 0)
  // A codec that declared a smaller window may count on it for nothing: matches only ever reach back into the content.
  if (size <= SINGLE_SEGMENT_BYTES_MAX || made === undefined) {
    return header.subarray(0, writeSize(header, SINGLE_SEGMENT_FLAG, 5, size))
  }
  header[5] = windowDescriptor(made.windowSize)
  return header.subarray(0, writeSize(header, 0, 6, size))
}

/** Writes descriptor and size in the fewest bytes; returns the offset behind them. */
function writeSize(header: Buffer, flags: number, at: number, size: number): number {
  if (flags === SINGLE_SEGMENT_FLAG && size < 256) {
    header[4] = flags | CHECKSUM_FLAG
    header[at] = size
    return at + 1
  }
  if (size >= 256 && size < 256 + 65_536) {
    header[4] = flags | CHECKSUM_FLAG | 0x40
    return header.writeUInt16LE(size - 256, at)
  }
  header[4] = flags | CHECKSUM_FLAG | 0x80
  return header.writeUInt32LE(size, at)
}

/** The smallest power of two that is no smaller than the codec's window. */
function windowDescriptor(windowSize: number): number {
  return Math.max(0, Math.ceil(Math.log2(windowSize)) - 10) << 3
}

/**
 * Content that compressed blocks may hold beyond what a frame declares. A block of few bytes can hold 128 KiB: without
 * this bound a small file could make a decoder produce gigabytes before it notices. Real encoders fill blocks with 8 KiB
 * and more on average.
 */
const CONTENT_OVERSHOOT_MAX = 16

/** CORRUPT unless the frame declares its size, at most `sizeMax`, and its blocks fit it. */
export function checkFrameBounds(
  { header, contentMax, compressed }: FrameWalk & { readonly kind: 'frame' },
  sizeMax: number,
  offset: number,
): number {
  const { contentSize } = header
  if (contentSize === undefined) throw corruptFrame('it does not declare its size', offset)
  if (contentSize > sizeMax) throw corruptFrame('it declares a size beyond the limit', offset)
  const fits = compressed
    ? contentMax >= contentSize && contentMax <= CONTENT_OVERSHOOT_MAX * (contentSize + BLOCK_CONTENT_BYTES_MAX)
    : contentMax === contentSize
  if (!fits) throw corruptFrame('its blocks do not fit the size that it declares', offset)
  return contentSize
}
