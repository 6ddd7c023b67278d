import {
  type FileLogOptions,
  fileLogStorage,
  type SealableStorage,
  type SealReport,
} from '@session-persistence/file-log'
import { type FrameCodecOptions, frameCodec } from './frame-codec.ts'

export interface JsonlZstdStorageOptions extends FileLogOptions, FrameCodecOptions {}

/** The storage port over zstd-framed JSONL files (docs/formats/jsonl-zstd.md), for tools; harnesses want `openJsonlZstd`. */
export function jsonlZstdStorage(options: JsonlZstdStorageOptions): SealableStorage {
  return fileLogStorage(frameCodec(options), options)
}

/**
 * Merges the small frames of one stored session into large ones: events, seqs and receipts do not change. Closing a
 * session does the same where it pays. NOT_FOUND; LOCKED while a writer is open; CORRUPT leaves the log as it is.
 */
export async function sealSession(
  options: JsonlZstdStorageOptions,
  id: string,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<SealReport> {
  const storage = jsonlZstdStorage(options)
  try {
    return await storage.seal(id, signal === undefined ? {} : { signal })
  } finally {
    await storage.close()
  }
}
