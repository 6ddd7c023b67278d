// Proves for zstd-framed files that wherever the power is cut on any write path, everything acknowledged is there, and nothing else.
import { JSONL_ZSTD } from '../src/index.ts'
import { modelledSuite } from './parts/modelled-suite.ts'

modelledSuite(JSONL_ZSTD)
