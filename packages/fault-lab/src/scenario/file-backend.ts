/** The backends that stand on the file-system port. */
import type { SessionStorage } from '@session-persistence/core'
import type { FileSystem, SealableStorage } from '@session-persistence/file-log'
import { jsonlStorage } from '@session-persistence/jsonl'
import { jsonlZstdStorage } from '@session-persistence/jsonl-zstd'

export interface FileBackend {
  readonly name: string
  readonly logName: string
  /** Whether small batches can be merged. */
  readonly seals: boolean
  open(fileSystem: FileSystem, root: string): FileStorage
}

export type FileStorage = SessionStorage & Partial<Pick<SealableStorage, 'seal'>>

export const JSONL: FileBackend = {
  name: 'jsonl',
  logName: 'session.jsonl',
  seals: false,
  open: (fileSystem, root) => jsonlStorage({ root, fileSystem }),
}

export const JSONL_PACKED: FileBackend = {
  ...JSONL,
  name: 'jsonl (packed)',
  open: (fileSystem, root) => jsonlStorage({ root, fileSystem, pack: true }),
}

export const JSONL_ZSTD: FileBackend = {
  name: 'jsonl-zstd',
  logName: 'session.jsonl.zst',
  seals: true,
  open: (fileSystem, root) => jsonlZstdStorage({ root, fileSystem }),
}

export const FILE_BACKENDS: readonly FileBackend[] = [JSONL, JSONL_PACKED, JSONL_ZSTD]
