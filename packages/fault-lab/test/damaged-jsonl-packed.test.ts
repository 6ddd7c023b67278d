// Proves for packed logs that no cut and no flipped bit passes: each is noticed, or costs nothing that was whole.
import { JSONL_PACKED } from '../src/index.ts'
import { damagedLogs } from './parts/damaged-log.ts'

damagedLogs(JSONL_PACKED)
