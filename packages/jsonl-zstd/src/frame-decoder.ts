/**
 * Reads any file of Zstandard frames in bounded memory, whoever wrote it: what other harnesses store as
 * `.jsonl.zstd`, and our own logs as the plain JSONL that other tools see. Nothing is known of commit records here.
 */
import { SessionError } from '@session-persistence/core'
import { chooseCodec, type ZstdCodecName } from './choose-codec.ts'
import { corruptFrame, type FrameWalk, walkFrame } from './frame-walk.ts'
import type { ZstdCodec } from './zstd-codec.ts'

export interface FrameDecoderOptions {
  readonly codec?: ZstdCodecName | ZstdCodec
  /** Content that one frame may hold, in bytes; default 256 MiB. Compressed blocks count as full: 128 KiB each. */
  readonly contentBytesMax?: number
  readonly signal?: AbortSignal
}

const CONTENT_BYTES_MAX = 256 * 1024 * 1024
/** Content decoded in one call where frames are small. */
const PART_CONTENT_BYTES = 256 * 1024
const GROWTH = 2

/**
 * The content of the frames in `bytes`, in order, a part of about 256 KiB or a larger frame at a time; skippable frames
 * are passed over. After everything before it was given: CORRUPT with the offset of the first frame that is damaged,
 * cut, or needs a dictionary; TOO_LARGE for one that could hold more than `contentBytesMax`.
 */
export async function* decodeZstdFrames(
  bytes: AsyncIterable<Uint8Array>,
  options: FrameDecoderOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  const { contentBytesMax = CONTENT_BYTES_MAX, signal } = options
  if (!Number.isSafeInteger(contentBytesMax) || contentBytesMax < 1) {
    throw new SessionError('INVALID_ARGUMENT', '`contentBytesMax` must be a positive integer')
  }
  const codec = chooseCodec(options.codec)
  const input = new FrameInput(contentBytesMax)
  for await (const chunk of bytes) {
    signal?.throwIfAborted()
    input.add(chunk)
    for (let part = input.next(false); part !== undefined; part = input.next(false)) yield await decode(codec, part)
  }
  for (let part = input.next(true); part !== undefined; part = input.next(true)) {
    signal?.throwIfAborted()
    yield await decode(codec, part)
  }
  input.requireEnd()
}

/** Whole frames that lie next to each other. */
interface Part {
  readonly frames: Buffer
  readonly offset: number
  readonly contentMax: number
  /** Where every frame declares its content. */
  readonly content: number | undefined
}

async function decode(codec: ZstdCodec, { frames, offset, contentMax, content }: Part): Promise<Buffer> {
  let decoded: Buffer
  try {
    decoded = await codec.decompress(frames, content ?? contentMax)
  } catch (cause) {
    throw new SessionError('CORRUPT', 'a compressed frame is damaged', { offset, cause })
  }
  if (content === undefined ? decoded.length <= contentMax : decoded.length === content) return decoded
  throw corruptFrame('it holds another number of bytes than it declares', offset)
}

/** Bytes as they come, and the whole frames among them. */
class FrameInput {
  readonly #contentBytesMax: number
  #parts: Uint8Array[] = []
  #length = 0
  /** Bytes that must be there before another look is worth it. */
  #wanted = 1
  /** Offset of the first byte that is held. */
  #offset = 0

  constructor(contentBytesMax: number) {
    this.#contentBytesMax = contentBytesMax
  }

  add(chunk: Uint8Array): void {
    this.#parts.push(chunk)
    this.#length += chunk.length
  }

  /** The next whole frames; undefined until more bytes come. `last`: none will. */
  next(last: boolean): Part | undefined {
    if (this.#length === 0 || (!last && this.#length < this.#wanted)) return undefined
    const bytes = this.#joined()
    let end = 0
    let contentMax = 0
    let content: number | undefined = 0
    while (end < bytes.length && contentMax < PART_CONTENT_BYTES) {
      const walk = walkFrame(bytes, end)
      if (walk.kind === 'incomplete') break
      if (walk.kind === 'invalid') {
        if (end > 0) break
        throw corruptFrame(walk.why, this.#offset)
      }
      if (walk.kind === 'frame') {
        const { contentSize } = walk.header
        const most = this.#checked(walk, end)
        contentMax += most
        content = content === undefined || contentSize === undefined ? undefined : content + contentSize
      }
      end = walk.end
    }
    if (end === 0) {
      this.#requireShort(bytes.length)
      this.#wanted = bytes.length * GROWTH
      return undefined
    }
    const offset = this.#offset
    this.#keep(bytes.subarray(end))
    if (contentMax === 0) return this.next(last)
    return { frames: bytes.subarray(0, end), offset, contentMax, content }
  }

  /** Content that the frame holds at most. */
  #checked({ header, contentMax }: FrameWalk & { readonly kind: 'frame' }, at: number): number {
    const { contentSize } = header
    if ((contentSize ?? contentMax) > this.#contentBytesMax) this.#tooLarge(at, contentSize ?? contentMax)
    // A few compressed blocks at a time may hold less than they could, never more.
    if (contentSize !== undefined && contentMax < contentSize) {
      throw corruptFrame('its blocks do not fit the size that it declares', this.#offset + at)
    }
    if (contentMax > this.#contentBytesMax) this.#tooLarge(at, contentMax)
    return contentMax
  }

  /** A frame cannot be longer than what it may hold, but for its headers. */
  #requireShort(length: number): void {
    if (length > this.#contentBytesMax * GROWTH + PART_CONTENT_BYTES) this.#tooLarge(0, length)
  }

  #tooLarge(at: number, found: number): never {
    const limit = this.#contentBytesMax
    throw new SessionError('TOO_LARGE', `a compressed frame may hold more than ${limit} bytes`, {
      offset: this.#offset + at,
      expected: limit,
      found,
    })
  }

  #joined(): Buffer {
    const [first] = this.#parts
    const whole =
      this.#parts.length === 1 && first !== undefined
        ? Buffer.from(first.buffer, first.byteOffset, first.length)
        : Buffer.concat(this.#parts)
    this.#parts = [whole]
    return whole
  }

  #keep(rest: Buffer): void {
    this.#offset += this.#length - rest.length
    this.#parts = [rest]
    this.#length = rest.length
    this.#wanted = 1
  }

  requireEnd(): void {
    if (this.#length > 0) throw corruptFrame('the file ends inside it', this.#offset)
  }
}
