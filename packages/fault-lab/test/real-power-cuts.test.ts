// Proves on real file systems: whatever was acknowledged before the power went is there when it comes back.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  expectationAfter,
  LoopMount,
  MOUNT_KINDS,
  Random,
  REAL_BACKENDS,
  type RealBackend,
  type RunningWriter,
  report,
  runWriter,
  SCALE,
  SEED,
  THIN_EXT4,
  taskBatches,
  verifyReal,
  type WriterLine,
  type WriterTask,
} from '../src/index.ts'
import { scratchDirectory } from './parts/scratch.ts'

const ROUNDS = Math.ceil(SCALE >= 5 ? 5 * SCALE : SCALE)
const timeout = 120_000 * (1 + SCALE)
const WRITERS: readonly RealBackend[] = [...REAL_BACKENDS, ...REAL_BACKENDS]

interface Writer {
  readonly task: WriterTask
  readonly heard: WriterLine[]
}

/** Lets writers run until they have acknowledged `acks` batches between them, then cuts the power. */
async function cutUnder(mount: LoopMount, round: number, acks: number): Promise<readonly Writer[]> {
  let left = acks
  let isCut = false
  const running = new Set<RunningWriter>()
  const writers: Writer[] = []
  const runs = WRITERS.map((backend, index) => {
    const directory = join(mount.path, `writer-${round}-${index}`)
    mkdirSync(directory)
    const task = { backend, directory, id: 'session', seed: SEED + index, batches: 400, bytes: 200, reopenEvery: 7 }
    const writer: Writer = { task, heard: [] }
    writers.push(writer)
    return runWriter(task, {
      onLine: (line, run) => {
        running.add(run)
        // What was said too late promises nothing; and what was read before the cut was said before it.
        if (isCut) return
        writer.heard.push(line)
        if (line.word === 'ack') left--
        if (left > 0) return
        isCut = true
        expect(mount.cutPower()).toBe(true)
        for (const each of running) each.kill()
      },
    })
  })
  const killLate = setInterval(() => {
    if (isCut) for (const each of running) each.kill()
  }, 50)
  await Promise.all(runs)
  clearInterval(killLate)
  return writers
}

function kept({ task, heard }: Writer): ReturnType<typeof expectationAfter> {
  const events = taskBatches(task).flat()
  const { histories, ...rest } = expectationAfter(task.id, events, heard)
  // Words on their way were not heard: anything after the acknowledged may be there.
  return {
    ...rest,
    absent: rest.absent === 'forbidden' ? 'forbidden' : 'allowed',
    histories: histories.map((history) => ({ ...history, events })),
  }
}

describe.each(MOUNT_KINDS)('power cut over $name', { timeout }, (kind) => {
  let mount: LoopMount | undefined

  beforeAll(() => {
    mount = LoopMount.make(kind, scratchDirectory())
  })
  afterAll(() => mount?.destroy())

  it('keeps every acknowledged batch of six writers', async ({ skip }) => {
    if (mount === undefined) return skip('not exercised: needs root, loop devices, perl and the mkfs of this kind')
    const random = new Random(SEED)
    let acknowledged = 0
    for (let round = 0; round < ROUNDS; round++) {
      const writers = await cutUnder(mount, round, 6 + random.below(120))
      expect(mount.remount()).toBe(true)
      for (const writer of writers) {
        const problem = await verifyReal(writer.task.backend, writer.task.directory, kept(writer), { thorough: true })
        expect(problem, JSON.stringify(writer.task)).toBeUndefined()
        acknowledged += writer.heard.filter(({ word }) => word === 'ack').length
        rmSync(writer.task.directory, { recursive: true })
      }
    }
    report(`power cuts, real: ${kind.name}`, {
      cuts: ROUNDS,
      writers: 6 * ROUNDS,
      acknowledgements: acknowledged,
      violations: 0,
    })
  })
})

/** Runs a writer until its medium has no room for what the file system was promised, and cuts the power. */
async function syncFailure(backend: RealBackend): Promise<string | undefined> {
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
    }
    const heard: WriterLine[] = []
    let acks = 0
    let failures = 0
    await runWriter(task, {
      onLine: (line) => {
        heard.push(line)
        if (line.word === 'ack' && ++acks === 3) fillUp(place)
        if (line.word === 'fail' && ++failures === 3) mount?.cutPower()
      },
    })
    if (failures === 0) return 'no write failed'
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

describe('a medium whose writes fail for good, and a power cut after that', { timeout }, () => {
  it.for(REAL_BACKENDS)('%s keeps every acknowledged batch', async (backend, { skip }) => {
    const problem = await syncFailure(backend)
    if (problem === NOT_EXERCISED) return skip(problem)
    expect(problem).toBeUndefined()
    report(`failed syncs, real: ${backend}`, { rounds: 1, violations: 0 })
  })
})
