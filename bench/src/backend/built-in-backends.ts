import type { BenchBackend } from './bench-backend.ts'
import { harness as jsonl } from './jsonl.ts'
import { harness as jsonlPacked } from './jsonl-packed.ts'
import { harness as memory } from './memory.ts'

/** Every backend that is measured when none is named. */
export const BUILT_IN_BACKENDS: readonly BenchBackend[] = Object.freeze([jsonl, jsonlPacked, memory])
