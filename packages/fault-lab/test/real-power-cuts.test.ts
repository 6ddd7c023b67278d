// Proves on real file systems: whatever was acknowledged before the power went is there when it comes back.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
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
  share,
  verifyReal,
  WHOLE,
  type WriterTask,
} from '../src/index.ts'
import { type HeardWriter, kept } from './parts/heard-writer.ts'
import { scratchDirectory } from './parts/scratch.ts'

const ROUNDS = share(WHOLE.realCuts / MOUNT_KINDS.length)
const timeout = 600_000 * (1 + SCALE)
const WRITERS: readonly RealBackend[] = [...REAL_BACKENDS, ...REAL_BACKENDS]

/** Lets writers run until they have acknowledged `acks` batches between them, then cuts the power. */
async function cutUnder(
  mount: LoopMount,
  round: number,
  acks: number,
  more: Partial<WriterTask> = {},
): Promise<readonly HeardWriter[]> {
  let left = acks
  let isCut = false
  const running = new Set<RunningWriter>()
  const writers: HeardWriter[] = []
  const runs = WRITERS.map((backend, index) => {
    const directory = join(mount.path, `writer-${round}-${index}`)
    mkdirSync(directory)
    const task = {
      backend,
      directory,
      id: 'session',
      seed: SEED + index,
      batches: 400,
      bytes: 200,
      reopenEvery: 7,
      ...more,
    }
    const writer: HeardWriter = { task, heard: [] }
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

it('sees a writer that does not sync what it appends', { timeout }, async ({ skip }) => {
  const [kind] = MOUNT_KINDS
  const mount = kind === undefined ? undefined : LoopMount.make(kind, scratchDirectory())
  if (mount === undefined) return skip('not exercised: needs root, loop devices, perl and mkfs.ext4')
  try {
    const weakness = 'drop the sync of an append'
    const writers = await cutUnder(mount, 0, 60, { backend: 'jsonl', reopenEvery: 1000, weakness })
    expect(mount.remount()).toBe(true)
    const problems: (string | undefined)[] = []
    for (const writer of writers) {
      problems.push(await verifyReal('jsonl', writer.task.directory, kept(writer), { thorough: false }))
    }
    expect(problems).toContainEqual(expect.stringMatching(/acknowledged|CORRUPT/))
  } finally {
    mount.destroy()
  }
})
