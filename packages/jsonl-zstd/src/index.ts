/** Sessions as checksummed, zstd-framed JSONL files. */
export * from './choose-codec.ts'
export * from './frame-codec.ts'
export * from './frame-decoder.ts'
export * from './jsonl-zstd-storage.ts'
export * from './open-jsonl-zstd.ts'
export * from './zstd-codec.ts'
export * from './zstd-unpacker.ts'
