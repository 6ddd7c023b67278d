import fs from 'node:fs'
import path from 'node:path'
import { elapsedSync } from '../measure/elapsed.ts'
import { type Estimate, estimate } from '../statistics/estimate.ts'

const PROBES = 101
const PROBE_BYTES = 200

/** Below this a sync does not reach a medium: a RAM disk, or a file system that was told not to care. */
const HONEST_SYNC_MS_MIN = 0.02

export interface SyncProbe {
  /** Milliseconds of one small write and fdatasync. */
  readonly syncMs: Estimate
  /** False where syncs are so fast that append ratios say nothing about a real disk. */
  readonly plausible: boolean
}

/** Times bare syncs in `directory`. Whether the drive tells the truth cannot be seen from here. */
export function probeSync(directory: string): SyncProbe {
  const file = path.join(directory, `sync-probe-${process.pid}`)
  const fd = fs.openSync(file, 'wx', 0o600)
  try {
    const bytes = Buffer.alloc(PROBE_BYTES, 0x61)
    const times: number[] = []
    for (let probe = 0; probe < PROBES; probe++) {
      times.push(
        elapsedSync(() => {
          fs.writeSync(fd, bytes)
          fs.fdatasyncSync(fd)
        }),
      )
    }
    const syncMs = estimate(times)
    return { syncMs, plausible: syncMs.median >= HONEST_SYNC_MS_MIN }
  } finally {
    fs.closeSync(fd)
    fs.unlinkSync(file)
  }
}
