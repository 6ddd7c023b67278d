/** Everything in one install: the interface, every backend, and one function that opens them by location. */
export * from '@session-persistence/core'
export * from '@session-persistence/jsonl'
export {
  decodeZstdFrames,
  type FrameDecoderOptions,
  type JsonlZstdOptions,
  type JsonlZstdStorageOptions,
  jsonlZstdStorage,
  openJsonlZstd,
  sealSession,
} from '@session-persistence/jsonl-zstd'
export * from '@session-persistence/sqlite'
export { BACKENDS, type Backend, type BackendAvailability } from './backends.ts'
export { type ConvertedSession, type ConvertOptions, convertSessions } from './convert-sessions.ts'
export { digestLog, digestSource, type LogDigest } from './log-digest.ts'
export { type BackendLocation, openPersistence, parseLocation } from './open-persistence.ts'
