import { SessionError } from '@session-persistence/core'
import { mongodbZstd } from './mongodb-zstd.ts'
import { nodeZstd, SMALL_BYTES } from './node-zstd.ts'
import { smallFrame } from './small-frame.ts'
import type { ZstdCodec } from './zstd-codec.ts'

/** The codecs that come with this package. Frames of one can be read by the other. */
export type ZstdCodecName = '@mongodb-js/zstd' | 'node:zlib'

/**
 * A codec by name; without one the fastest that this machine has. NOT_SUPPORTED when there is none; INVALID_ARGUMENT
 * for another name.
 */
export function chooseCodec(wanted?: ZstdCodecName | ZstdCodec): ZstdCodec {
  if (typeof wanted === 'object') return wanted
  if (wanted !== undefined && wanted !== '@mongodb-js/zstd' && wanted !== 'node:zlib') {
    throw new SessionError('INVALID_ARGUMENT', "`codec` must be '@mongodb-js/zstd', 'node:zlib' or a codec")
  }
  const codec = wanted === undefined ? fastest() : wanted === 'node:zlib' ? nodeZstd() : mongodbZstd()
  if (codec !== undefined) return codec
  throw new SessionError(
    'NOT_SUPPORTED',
    wanted === undefined
      ? 'no Zstandard codec: @mongodb-js/zstd has no binary for this machine, and this Node has none of its own'
      : `the Zstandard codec ${wanted} does not exist on this machine`,
  )
}

/**
 * Frames of one short line are made here, without waiting for anybody. `@mongodb-js/zstd` decodes many small frames in
 * one call, and large ones as fast as any; `node:zlib` compresses contents of up to 4 KiB without a hop through the
 * thread pool.
 */
function fastest(): ZstdCodec | undefined {
  const mongodb = mongodbZstd()
  const node = nodeZstd()
  const large = mongodb ?? node
  if (large === undefined) return undefined
  const small = node ?? large
  return {
    name: mongodb === undefined || node === undefined ? large.name : `${mongodb.name} and ${node.name}`,
    compress: (content) => smallFrame(content) ?? (content.length <= SMALL_BYTES ? small : large).compress(content),
    decompress: (frames, length) => large.decompress(frames, length),
  }
}
