import {
  anOptionsObject,
  createPersistence,
  type PersistenceOptions,
  type SessionPersistence,
} from '@session-persistence/core'
import type { FileLogOptions } from '@session-persistence/file-log'
import { jsonlStorage } from './jsonl-storage.ts'
import type { Checksum } from './line.ts'

export interface JsonlOptions extends FileLogOptions, PersistenceOptions {
  /** Store runs of stream deltas as one line each: a fifth of the size, and three times as fast to read. Default false, for readability. */
  readonly pack?: boolean
  /** CRC-32 on every line (default), or `none`: then a changed byte can pass unnoticed (capability `integrity: 'none'`). */
  readonly checksum?: Checksum
}

/**
 * Sessions as plain JSONL files below `root`, one directory each (docs/formats/files.md). Reads nothing and writes
 * nothing yet. INVALID_ARGUMENT for options that are not of the documented form.
 */
export async function openJsonl(options: JsonlOptions): Promise<SessionPersistence> {
  const { root, durability, fileSystem, pack, checksum, ...rest } = anOptionsObject(options)
  const storage = jsonlStorage({
    root,
    ...(durability === undefined ? {} : { durability }),
    ...(fileSystem === undefined ? {} : { fileSystem }),
    ...(pack === undefined ? {} : { pack }),
    ...(checksum === undefined ? {} : { checksum }),
  })
  return createPersistence(storage, rest)
}
