/**
 * `@mongodb-js/zstd` 1.2: one call in the thread pool each way, many concatenated frames decoded in one. Its level
 * cannot be chosen.
 */
import { createRequire } from 'node:module'
import type { ZstdCodec } from './zstd-codec.ts'

interface MongodbZstd {
  compress(data: Buffer): Promise<Buffer>
  decompress(data: Buffer): Promise<Buffer>
}

const require: NodeJS.Require = createRequire(import.meta.url)

/** Undefined where its binary does not exist or cannot be loaded. */
export function mongodbZstd(): ZstdCodec | undefined {
  let library: MongodbZstd
  try {
    // Not a static import: where the binary is missing, `node:zlib` may do.
    library = require('@mongodb-js/zstd') as MongodbZstd
  } catch {
    return undefined
  }
  return {
    name: '@mongodb-js/zstd',
    compress: (content) => library.compress(content),
    decompress: (frames) => library.decompress(frames),
  }
}
