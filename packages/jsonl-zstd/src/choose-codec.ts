import { SessionError } from '@session-persistence/core'
import { mongodbZstd } from './mongodb-zstd.ts'
import { nodeZstd, SMALL_BYTES } from './node-zstd.ts'
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
 * `@mongodb-js/zstd` decodes many small frames in one call, and large ones as fast as any; `node:zlib` compresses small
 * ones without a hop through the thread pool, which makes an append of one event a third quicker.
 */
function fastest(): ZstdCodec | undefined {
  const mongodb = mongodbZstd()
  const node = nodeZstd()
  if (mongodb === undefined || node === undefined) return mongodb ?? node
  return {
    name: `${mongodb.name} and ${node.name}`,
    compress: (content) => (content.length <= SMALL_BYTES ? node : mongodb).compress(content),
    decompress: (frames, length) => mongodb.decompress(frames, length),
  }
}
