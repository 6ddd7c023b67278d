// Proves that no changed plain log makes a reader fail without a type, hang, or give events that nobody stored.
import { JSONL } from '../src/index.ts'
import { fuzzedLogs } from './parts/fuzzed-log.ts'

fuzzedLogs(JSONL)
