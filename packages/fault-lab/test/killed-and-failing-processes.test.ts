// Proves with real processes: killed at a system call, given errors by the kernel, or out of space, they lose nothing.

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  expectationAfter,
  isInstalled,
  parseTrace,
  Random,
  REAL_BACKENDS,
  type RealBackend,
  report,
  runTraced,
  runWriter,
  SCALE,
  SEED,
  taskBatches,
  verifyReal,
  type WriterLine,
  type WriterTask,
} from '../src/index.ts'
import { scratchDirectory } from './parts/scratch.ts'

const hasStrace = isInstalled('strace')
const hasPrlimit = isInstalled('prlimit')
const timeout = 120_000 * (1 + SCALE)

const CALLS = [
  'openat',
  'write',
  'pwrite64',
  'fsync',
  'fdatasync',
  'ftruncate',
  'unlink',
  'rename',
  'link',
  'mkdir',
] as const

function newTask(backend: RealBackend, more: Partial<WriterTask> = {}): WriterTask {
  const directory = join(scratchDirectory('memory'), 'd')
  mkdirSync(directory)
  return {
    backend,
    directory,
    id: 'session',
    seed: SEED,
    batches: 4,
    bytes: 60,
    reopenEvery: 2,
    neighbour: true,
    ...more,
  }
}

async function verify(task: WriterTask, lines: readonly WriterLine[]): Promise<string | undefined> {
  const untyped = lines.find(({ code }) => code.startsWith('untyped'))
  if (untyped !== undefined) return untyped.code
  const expected = expectationAfter(task.id, taskBatches(task).flat(), lines)
  return await verifyReal(task.backend, task.directory, expected, { thorough: true })
}

/** What a file system call may touch: strace filters by these. */
function pathsOf({ backend, directory }: WriterTask): readonly string[] {
  const root = join(directory, 'root')
  if (backend === 'sqlite') return [root, join(root, 'sessions.db'), join(root, 'sessions.db-wal')]
  const log = backend === 'jsonl' ? 'session.jsonl' : 'session.jsonl.zst'
  return [root, join(root, 'session'), join(root, 'session', log)]
}

/** How often a writer makes each call below its root. */
async function countCalls(backend: RealBackend): Promise<ReadonlyMap<string, number>> {
  const task = newTask(backend)
  const traceFile = join(task.directory, '..', 'trace')
  const { trace } = await runTraced(task, traceFile, { rule: 'mkdir:error=EIO:when=9999', paths: pathsOf(task) })
  const counts = new Map<string, number>()
  for (const { name } of parseTrace(trace)) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** Every place where one call can be hit, or as many of them as the scale allows. */
async function places(backend: RealBackend, most: number): Promise<readonly { call: string; when: number }[]> {
  const counts = await countCalls(backend)
  const all = CALLS.flatMap((call) =>
    Array.from({ length: counts.get(call) ?? 0 }, (_, index) => ({ call, when: index + 1 })),
  )
  const random = new Random(SEED)
  return all.length <= most ? all : all.filter(() => random.below(all.length) < most)
}

describe.runIf(hasStrace)('system calls of real writers (needs strace)', { timeout }, () => {
  it.each(REAL_BACKENDS)('%s, killed there', async (backend) => {
    const chosen = await places(backend, 8 * SCALE * SCALE)
    let killed = 0
    for (const { call, when } of chosen) {
      const task = newTask(backend)
      const inject = { rule: `${call}:signal=KILL:when=${when}`, paths: pathsOf(task) }
      const { lines } = await runTraced(task, join(task.directory, '..', 'trace'), inject)
      if (lines.at(-1)?.word !== 'done') killed++
      expect(await verify(task, lines), `${call} ${when}`).toBeUndefined()
    }
    report(`killed at a system call: ${backend}`, { kills: killed, violations: 0 })
    expect(killed).toBeGreaterThan(0)
  })

  it.each(REAL_BACKENDS)('%s, failing there', async (backend) => {
    const chosen = await places(backend, 6 * SCALE * SCALE)
    let injected = 0
    for (const [index, { call, when }] of chosen.entries()) {
      const error = ['EIO', 'ENOSPC', 'EDQUOT', 'EMFILE'][index % 4]
      const lasting = index % 3 === 0 ? '+' : ''
      const task = newTask(backend, { retries: 3 })
      const inject = { rule: `${call}:error=${error}:when=${when}${lasting}`, paths: pathsOf(task) }
      const { lines, trace } = await runTraced(task, join(task.directory, '..', 'trace'), inject)
      if (trace.includes('(INJECTED)')) injected++
      expect(await verify(task, lines), `${inject.rule} ${JSON.stringify(lines)}`).toBeUndefined()
    }
    report(`errors of system calls: ${backend}`, { errors: injected, violations: 0 })
    expect(injected).toBeGreaterThan(0)
  })
})

describe('processes killed at any moment', { timeout }, () => {
  it.each(REAL_BACKENDS)('%s', async (backend) => {
    const rounds = Math.ceil((SCALE >= 5 ? 34 : 4) * SCALE)
    const random = new Random(SEED)
    for (let round = 0; round < rounds; round++) {
      const task = newTask(backend, { batches: 20, seed: SEED + round })
      let left = 1 + random.below(40)
      const { lines } = await runWriter(task, {
        onLine: (_, run) => {
          if (--left === 0) run.kill()
        },
      })
      expect(await verify(task, lines)).toBeUndefined()
    }
    report(`killed at any moment: ${backend}`, { kills: rounds, violations: 0 })
  })
})

describe.runIf(hasPrlimit)('a disk that is full at any byte (needs prlimit)', { timeout }, () => {
  it.each(REAL_BACKENDS)('%s, and then has space again', async (backend) => {
    const rounds = Math.ceil((SCALE >= 5 ? 51 : 6) * SCALE)
    const random = new Random(SEED)
    let full = 0
    for (let round = 0; round < rounds; round++) {
      const task = newTask(backend, {
        batches: 12,
        bytes: 400,
        seed: SEED + round,
        retries: 5,
        waits: true,
        neighbour: false,
      })
      // A database is born with seven pages.
      const limit = (backend === 'sqlite' ? 24_000 : 200) + random.below(backend === 'sqlite' ? 40_000 : 4000)
      const heard: WriterLine[] = []
      let failures = 0
      const { lines } = await runWriter(task, {
        under: ['prlimit', `--fsize=${limit}:unlimited`],
        onLine: (line, run) => {
          heard.push(line)
          if (line.word !== 'fail') return
          expect(line.code).toMatch(/^(?:NO_SPACE|POISONED|IO)$/)
          if (++failures === 2) spawnSync('prlimit', ['--pid', String(run.pid), '--fsize=unlimited:unlimited'])
          run.tell()
        },
      })
      if (failures > 0) full++
      expect(lines.at(-1)?.word, JSON.stringify(lines)).toBe('done')
      expect(await verify(task, lines)).toBeUndefined()
    }
    report(`disk full: ${backend}`, { offsets: full, violations: 0 })
    expect(full).toBeGreaterThan(0)
  })
})

it.skipIf(hasStrace)('kills and errors at system calls: not exercised, strace is not installed', () => {})
it.skipIf(hasPrlimit)('full disks: not exercised, prlimit is not installed', () => {})
