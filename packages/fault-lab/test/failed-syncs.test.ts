// Proves on a real file system that a sync which failed is never taken for done, whatever the page cache shows.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  LoopMount,
  REAL_BACKENDS,
  type RealBackend,
  report,
  runWriter,
  SEED,
  THIN_EXT4,
  verifyReal,
  type WriterLine,
  type WriterTask,
} from '../src/index.ts'
import { kept } from './parts/heard-writer.ts'
import { scratchDirectory } from './parts/scratch.ts'

/**
 * Runs a writer until its medium has no room for what the file system was promised, and cuts the power after three
 * failures or at the n-th acknowledgement.
 */
async function syncFailure(
  backend: RealBackend,
  { weakness, acks: last = Number.POSITIVE_INFINITY }: { readonly weakness?: string; readonly acks?: number } = {},
): Promise<string | undefined> {
  const place = scratchDirectory()
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', place]).status !== 0) return NOT_EXERCISED
  let mount: LoopMount | undefined
  try {
    mount = LoopMount.make(THIN_EXT4, place)
    if (mount === undefined) return NOT_EXERCISED
    const task: WriterTask = {
      backend,
      directory: mount.path,
      id: 'session',
      seed: SEED,
      batches: 300,
      bytes: 12_000,
      retries: 4,
      ...(weakness === undefined ? {} : { weakness }),
    }
    const heard: WriterLine[] = []
    let acks = 0
    let failures = 0
    let isCut = false
    await runWriter(task, {
      onLine: (line, run) => {
        if (isCut) return
        heard.push(line)
        if (line.word === 'ack' && ++acks === 3) fillUp(place)
        if (line.word === 'fail') failures++
        isCut = failures === 3 || acks >= last
        if (!isCut) return
        mount?.cutPower()
        if (acks >= last) run.kill()
      },
    })
    if (!isCut) return 'no write failed'
    rmSync(join(place, BALLAST), { force: true })
    if (!mount.remount()) return 'the medium could not be mounted again'
    return await verifyReal(backend, mount.path, kept({ task, heard }), { thorough: false })
  } finally {
    mount?.destroy()
    spawnSync('umount', ['-l', place])
  }
}

const NOT_EXERCISED = 'not exercised: needs root, loop devices and mkfs.ext4'
const BALLAST = 'ballast'

function fillUp(place: string): void {
  for (let size = 8 * 1024 * 1024; size >= 4096; size /= 2) {
    const script = `while head -c ${size} /dev/zero >> ${BALLAST}; do :; done`
    spawnSync('sh', ['-c', script], { cwd: place, stdio: 'ignore' })
  }
}

describe('a medium whose writes fail for good, and a power cut after that', { timeout: 300_000 }, () => {
  it.for(REAL_BACKENDS)('%s keeps every acknowledged batch', async (backend, { skip }) => {
    const problem = await syncFailure(backend)
    if (problem === NOT_EXERCISED) return skip(problem)
    expect(problem).toBeUndefined()
    report(`failed syncs, real: ${backend}`, { rounds: 1, violations: 0 })
  })

  it('is seen to lose what a writer acknowledges that repeats a failed sync', async ({ skip }) => {
    const problem = await syncFailure('jsonl', { weakness: 'believe a repeated sync', acks: 200 })
    if (problem === NOT_EXERCISED) return skip(problem)
    expect(problem).toMatch(/acknowledged|CORRUPT/)
  })
})
