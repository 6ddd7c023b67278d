import {
  anOptionsObject,
  createPersistence,
  type PersistenceOptions,
  type SessionPersistence,
} from '@session-persistence/core'
import type { FileLogOptions } from '@session-persistence/file-log'
import type { ZstdCodecName } from './choose-codec.ts'
import { jsonlZstdStorage } from './jsonl-zstd-storage.ts'
import type { ZstdCodec } from './zstd-codec.ts'

export interface JsonlZstdOptions extends FileLogOptions, PersistenceOptions {
  /** Which Zstandard library compresses and decompresses; default the fastest that this machine has. Files do not depend on it. */
  readonly codec?: ZstdCodecName | ZstdCodec
  /** Whether closing a session merges its small frames into large ones, where that pays; default true. */
  readonly sealAtClose?: boolean
}

/**
 * Sessions as checksummed, zstd-framed JSONL files below `root`, one directory each (docs/formats/files.md). Reads
 * nothing and writes nothing yet. INVALID_ARGUMENT for options that are not of the documented form; NOT_SUPPORTED on a
 * machine without a Zstandard codec.
 */
export async function openJsonlZstd(options: JsonlZstdOptions): Promise<SessionPersistence> {
  const { root, durability, fileSystem, codec, sealAtClose, ...rest } = anOptionsObject(options)
  const storage = jsonlZstdStorage({
    root,
    ...(durability === undefined ? {} : { durability }),
    ...(fileSystem === undefined ? {} : { fileSystem }),
    ...(codec === undefined ? {} : { codec }),
    ...(sealAtClose === undefined ? {} : { sealAtClose }),
  })
  return createPersistence(storage, rest)
}
