/** Durable agent sessions as plain JSONL files. */
export * from './jsonl-storage.ts'
export type { Checksum } from './line.ts'
export * from './line-codec.ts'
export * from './open-jsonl.ts'
