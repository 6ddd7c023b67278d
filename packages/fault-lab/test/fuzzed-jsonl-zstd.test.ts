// Proves that no changed zstd-framed log makes a reader fail without a type, hang, or give events that nobody stored.
import { JSONL_ZSTD } from '../src/index.ts'
import { fuzzedLogs } from './parts/fuzzed-log.ts'

fuzzedLogs(JSONL_ZSTD)
