import type { BenchBackend } from './bench-backend.ts'
import { harness as jsonl } from './jsonl.ts'
import { harness as jsonlPacked } from './jsonl-packed.ts'
import { harness as jsonlZstd } from './jsonl-zstd.ts'
import { harness as memory } from './memory.ts'
import { harness as sqlite } from './sqlite.ts'

/** Every backend that is measured when none is named. */
export const BUILT_IN_BACKENDS: readonly BenchBackend[] = Object.freeze([jsonl, jsonlPacked, jsonlZstd, sqlite, memory])
