// Proves that a disk that is full at any byte, and then has space again, costs nothing acknowledged.
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import {
  isInstalled,
  REAL_BACKENDS,
  type RealBackend,
  report,
  runWriter,
  SCALE,
  SEED,
  share,
  WHOLE,
} from '../src/index.ts'
import { inParallel } from './parts/in-parallel.ts'
import { newTask, removeTask, verifyTask } from './parts/writer-tasks.ts'

const hasPrlimit = isInstalled('prlimit')

/** Sizes between which a file is stopped: within what the writer stores. A database is born with seven pages. */
const BYTES: Readonly<Record<RealBackend, readonly [from: number, to: number]>> = {
  jsonl: [200, 4_200],
  'jsonl-zstd': [200, 2_800],
  sqlite: [24_000, 40_000],
}

describe.runIf(hasPrlimit)('a disk that is full (needs prlimit)', { timeout: 600_000 * (1 + SCALE) }, () => {
  it.each(REAL_BACKENDS)('%s', async (backend) => {
    const rounds = share(WHOLE.fullDisks)
    const [from, to] = BYTES[backend]
    let offsets = 0
    await inParallel(Array(rounds).keys(), async (round) => {
      // Spread evenly, and on every byte of a page in time.
      const limit = from + Math.floor(((to - from) * round) / rounds) + (SEED % 7)
      const task = newTask(backend, { batches: 12, bytes: 400, seed: SEED + round, retries: 5, waits: true })
      let failures = 0
      const { lines } = await runWriter(task, {
        under: ['prlimit', `--fsize=${limit}:unlimited`],
        onLine: (line, run) => {
          if (line.word !== 'fail') return
          expect(line.code).toMatch(/^(?:NO_SPACE|POISONED|IO)$/)
          if (++failures === 2) spawnSync('prlimit', ['--pid', String(run.pid), '--fsize=unlimited:unlimited'])
          run.tell()
        },
      })
      if (failures > 0) offsets++
      expect(lines.at(-1)?.word, `${limit}: ${JSON.stringify(lines)}`).toBe('done')
      expect(await verifyTask(task, lines), `${limit}`).toBeUndefined()
      removeTask(task)
    })
    report(`disk full: ${backend}`, { offsets, violations: 0 })
    expect(offsets).toBe(rounds)
  })

  it('sees a writer that takes a full disk for a whole write', async () => {
    const weakness = 'take a full disk for a whole write'
    const task = newTask('jsonl', { batches: 12, bytes: 400, weakness })
    const { lines } = await runWriter(task, { under: ['prlimit', '--fsize=4000:4000'] })
    expect(await verifyTask(task, lines)).toEqual(expect.stringMatching(/acknowledged|CORRUPT|is not the one/))
    report(`seeded bugs: ${weakness}`, { caught: 1 })
  })
})

it.skipIf(hasPrlimit)('full disks: not exercised, prlimit is not installed', () => {})
