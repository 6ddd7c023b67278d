import type { SessionStorage } from '@session-persistence/core'
import { type FileLogOptions, fileLogStorage } from '@session-persistence/file-log'
import { type LineCodecOptions, lineCodec } from './line-codec.ts'

export interface JsonlStorageOptions extends FileLogOptions, LineCodecOptions {}

/** The storage port over plain JSONL files (docs/formats/jsonl.md), for tools; harnesses want `openJsonl`. */
export function jsonlStorage(options: JsonlStorageOptions): SessionStorage {
  return fileLogStorage(lineCodec(options), options)
}
