// Proves that a session has one writer among many processes, and that a killed one frees it.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  expectationAfter,
  openReal,
  REAL_BACKENDS,
  type RealBackend,
  type RunningWriter,
  report,
  runWriter,
  SCALE,
  SEED,
  share,
  taskBatches,
  verifyReal,
  WHOLE,
  type WriterLine,
  type WriterTask,
} from '../src/index.ts'
import { inParallel } from './parts/in-parallel.ts'
import { scratchDirectory } from './parts/scratch.ts'

const PROCESSES = WHOLE.contenders
/** One round says little: which of eight comes first is a matter of luck. */
const ROUNDS = share(10)
const KILLS = share(Math.ceil(WHOLE.lockHolders / REAL_BACKENDS.length))
const timeout = 600_000 * (1 + SCALE)

function newTask(backend: RealBackend, more: Partial<WriterTask> = {}): WriterTask {
  const directory = join(scratchDirectory(), 'd')
  mkdirSync(directory)
  return { backend, directory, id: 'session', seed: SEED, batches: 8, bytes: 60, ...more }
}

/** Runs `holder` until it holds its session, then `step`, then kills it. */
async function whileHeld(task: WriterTask, step: () => Promise<void>): Promise<readonly WriterLine[]> {
  let stepped: Promise<void> | undefined
  const { lines } = await runWriter(
    { ...task, holds: true },
    {
      onLine: ({ word }, run) => {
        if (word === 'refused') throw new Error('the holder was refused')
        if (word !== 'done') return
        stepped = step().finally(() => run.kill())
      },
    },
  )
  await stepped
  return lines
}

describe.each(REAL_BACKENDS)('%s', { timeout }, (backend) => {
  it('eight processes on one session', async () => {
    let refused = 0
    let finished = 0
    for (let round = 0; round < ROUNDS; round++) {
      const task = newTask(backend, { seed: SEED + round })
      const ready: RunningWriter[] = []
      const together = (run: RunningWriter): void => {
        ready.push(run)
        if (ready.length === PROCESSES) for (const each of ready) each.tell()
      }
      const onLine = ({ word }: WriterLine, run: RunningWriter): void => (word === 'ready' ? together(run) : undefined)
      const gated = { ...task, gated: true }
      const runs = await Promise.all(Array.from({ length: PROCESSES }, () => runWriter(gated, { onLine })))
      for (const { lines, stderr } of runs) {
        const last = lines.at(-1)
        if (last?.word === 'done') finished++
        else refused++
        // The one that comes second may find the session, or the database, just born.
        if (last?.word !== 'done') expect(last?.code, stderr).toMatch(/^(?:LOCKED|BUSY|ALREADY_EXISTS)$/)
      }
      const all = runs.flatMap(({ lines }) => lines)
      const expected = expectationAfter('session', taskBatches(task).flat(), all)
      expect(await verifyReal(backend, task.directory, expected, { thorough: true })).toBeUndefined()
    }
    expect(finished).toBeGreaterThanOrEqual(ROUNDS)
    expect(refused).toBeGreaterThan(0)
    report(`contention: ${backend}`, { processes: PROCESSES * ROUNDS, refused, violations: 0 })
  })

  it('a holder that is killed frees its session, and nobody comes in before', async () => {
    await inParallel(Array(KILLS).keys(), async (round) => {
      const task = newTask(backend, { batches: 2, seed: SEED + round })
      const lines = await whileHeld(task, async () => {
        const storage = openReal(backend, task.directory)
        await expect(storage.openWriter('session', { kind: 'resume' })).rejects.toMatchObject({ code: 'LOCKED' })
        await storage.close()
      })
      const expected = expectationAfter('session', taskBatches(task).flat(), lines)
      expect(await verifyReal(backend, task.directory, expected, { thorough: true })).toBeUndefined()
    })
    report(`killed lock holders: ${backend}`, { kills: KILLS, violations: 0 })
  })
})

it.each(['jsonl', 'jsonl-zstd'] as const)('sees a writer of %s whose lock excludes nobody', async (backend) => {
  const task = newTask(backend, { batches: 2 })
  let second: readonly WriterLine[] = []
  await whileHeld(task, async () => {
    second = (await runWriter({ ...task, weakness: 'take a lock that excludes nobody' })).lines
  })
  expect(second.some(({ code }) => code === 'LOCKED')).toBe(false)
  report('seeded bugs: take a lock that excludes nobody', { caught: 1 })
})
