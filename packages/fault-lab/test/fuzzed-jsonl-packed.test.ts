// Proves that no changed packed log makes a reader fail without a type, hang, or give events that nobody stored.
import { JSONL_PACKED } from '../src/index.ts'
import { fuzzedLogs } from './parts/fuzzed-log.ts'

fuzzedLogs(JSONL_PACKED)
