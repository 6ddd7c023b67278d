/** `node:zlib`, where the runtime has Zstandard (Node 22.15 and newer). */
import * as zlib from 'node:zlib'
import { walkFrame } from './frame-walk.ts'
import type { ZstdCodec } from './zstd-codec.ts'

type Callback = (error: Error | null, result: Buffer) => void

/** What `node:zlib` has there; the types of Node 20 do not know it. */
interface NodeZstd {
  zstdCompressSync(content: Buffer): Buffer
  zstdCompress(content: Buffer, done: Callback): void
  zstdDecompress(frames: Buffer, options: { readonly maxOutputLength: number }, done: Callback): void
}

/** Below this a call in the thread pool costs more than it saves: 15 to 30 µs here against 60 to 200 there. */
export const SMALL_BYTES: number = 4096

/** Undefined where the runtime has none. */
export function nodeZstd(): ZstdCodec | undefined {
  if (!('zstdCompress' in zlib && 'zstdDecompress' in zlib)) return undefined
  const library = zlib as unknown as NodeZstd
  const decompressOne = (frame: Buffer, length: number): Promise<Buffer> =>
    settled((done) => library.zstdDecompress(frame, { maxOutputLength: Math.max(1, length) }, done))
  return {
    name: 'node:zlib',
    compress(content) {
      if (content.length <= SMALL_BYTES) return library.zstdCompressSync(content)
      return settled((done) => library.zstdCompress(content, done))
    },
    async decompress(frames, length) {
      // Some versions decode only the first of several frames, some end at a skippable one: each is decoded alone.
      const parts = wholeFrames(frames)
      const contents = await Promise.all(parts.map((part) => decompressOne(part.bytes, Math.min(part.size, length))))
      return contents.length === 1 && contents[0] !== undefined ? contents[0] : Buffer.concat(contents)
    },
  }
}

function settled(call: (done: Callback) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    call((error, result) => {
      if (error === null) resolve(result)
      else reject(error)
    })
  })
}

/** Every frame with content. Rejects what is no frame. */
function wholeFrames(bytes: Buffer): { readonly bytes: Buffer; readonly size: number }[] {
  const frames: { readonly bytes: Buffer; readonly size: number }[] = []
  for (let at = 0; at < bytes.length; ) {
    const walk = walkFrame(bytes, at)
    if (walk.kind === 'incomplete' || walk.kind === 'invalid') throw new Error('no whole frame starts here')
    if (walk.kind === 'frame') {
      frames.push({ bytes: bytes.subarray(at, walk.end), size: walk.header.contentSize ?? walk.contentMax })
    }
    at = walk.end
  }
  return frames
}
