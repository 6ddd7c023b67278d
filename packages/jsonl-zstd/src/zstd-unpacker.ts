import { decodeZstdFrames } from './frame-decoder.ts'
import { FRAME_MAGIC, SKIPPABLE_MAGIC, SKIPPABLE_MASK } from './frame-walk.ts'

/** Has the form of the `Unpacker` of `@session-persistence/interchange`: with it, logs stored as `.jsonl.zstd` by others are read. */
export interface ZstdUnpacker {
  /** True for a file that starts with a frame, or with a skippable one. */
  detect(head: Buffer): boolean
  /** See {@link decodeZstdFrames}. */
  unpack(bytes: AsyncIterable<Uint8Array>, options: { readonly signal?: AbortSignal }): AsyncIterable<Uint8Array>
}

export const zstdUnpacker: ZstdUnpacker = Object.freeze({
  detect(head: Buffer): boolean {
    if (head.length < 4) return false
    const magic = head.readUInt32LE(0)
    return magic === FRAME_MAGIC || (magic & SKIPPABLE_MASK) >>> 0 === SKIPPABLE_MAGIC
  },
  unpack: (bytes: AsyncIterable<Uint8Array>, { signal }: { readonly signal?: AbortSignal }) =>
    decodeZstdFrames(bytes, signal === undefined ? {} : { signal }),
})
