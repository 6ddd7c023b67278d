// Proves for plain logs that no cut and no flipped bit passes: each is noticed, or costs nothing that was whole.
import { JSONL } from '../src/index.ts'
import { damagedLogs } from './parts/damaged-log.ts'

damagedLogs(JSONL)
