import { SessionError } from '@session-persistence/core'
import { mongodbZstd } from './mongodb-zstd.ts'
import { nodeZstd } from './node-zstd.ts'
import type { ZstdCodec } from './zstd-codec.ts'

/** The codecs that come with this package. Frames of one can be read by the other. */
export type ZstdCodecName = '@mongodb-js/zstd' | 'node:zlib'

/**
 * A codec by name, or the first that this machine has: `@mongodb-js/zstd`, since it is measured to be two to four times
 * as fast on small frames, then `node:zlib`. NOT_SUPPORTED when there is none; INVALID_ARGUMENT for another name.
 */
export function chooseCodec(wanted?: ZstdCodecName | ZstdCodec): ZstdCodec {
  if (typeof wanted === 'object') return wanted
  if (wanted !== undefined && wanted !== '@mongodb-js/zstd' && wanted !== 'node:zlib') {
    throw new SessionError('INVALID_ARGUMENT', "`codec` must be '@mongodb-js/zstd', 'node:zlib' or a codec")
  }
  const codec =
    (wanted === 'node:zlib' ? undefined : mongodbZstd()) ?? (wanted === '@mongodb-js/zstd' ? undefined : nodeZstd())
  if (codec !== undefined) return codec
  throw new SessionError(
    'NOT_SUPPORTED',
    wanted === undefined
      ? 'no Zstandard codec: @mongodb-js/zstd has no binary for this machine, and this Node has none of its own'
      : `the Zstandard codec ${wanted} does not exist on this machine`,
  )
}
