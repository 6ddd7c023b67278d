// Proves the same for the shipped code, native addons included: power cuts after every system call of real writers.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  cutTrace,
  type DiskImage,
  Evidence,
  type Expectation,
  expectationAfter,
  FILE_BACKENDS,
  isInstalled,
  type Operation,
  parseLines,
  parseTrace,
  Random,
  REAL_BACKENDS,
  type RealBackend,
  replayTrace,
  report,
  runTraced,
  SCALE,
  SEED,
  share,
  taskBatches,
  verifyImage,
  verifyReal,
  visibleImage,
  WHOLE,
  type WriterLine,
  type WriterTask,
} from '../src/index.ts'
import { scratchDirectory } from './parts/scratch.ts'

const hasStrace = isInstalled('strace')
const STATES = share(WHOLE.tracedStates)

/** SQLite's shared memory: never synced, and made anew from the log by whoever opens the database first. */
const isSharedMemory = (path: string): boolean => path.endsWith('-shm')
const isLock = (path: string): boolean => path.includes('.locks/')

interface Recorded {
  readonly task: WriterTask
  readonly operations: readonly Operation<Expectation>[]
  readonly left: DiskImage
}

async function record(backend: RealBackend, seed: number): Promise<Recorded> {
  const directory = join(scratchDirectory('memory'), 'traced')
  mkdirSync(directory)
  const task = { backend, directory, id: 'session', seed, batches: 6, bytes: 120, reopenEvery: 3, neighbour: true }
  const { trace, lines, stderr } = await runTraced(task, join(directory, '..', 'trace'))
  expect(lines.at(-1)?.word, stderr).toBe('done')
  const events = taskBatches(task).flat()
  const heard: WriterLine[] = []
  const said = (text: string): Expectation => {
    heard.push(...parseLines(text))
    return expectationAfter('session', events, heard)
  }
  const { operations, disk } = replayTrace(parseTrace(trace), { directories: [directory] }, said)
  return { task, operations, left: visibleImage(disk) }
}

function filesBelow(directory: string, prefix = ''): Map<string, Buffer> {
  const found = new Map<string, Buffer>()
  for (const entry of readdirSync(join(directory, prefix), { withFileTypes: true })) {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`
    if (entry.isDirectory()) for (const [name, bytes] of filesBelow(directory, path)) found.set(name, bytes)
    else found.set(path, readFileSync(join(directory, path)))
  }
  return found
}

async function sweep(
  backend: RealBackend,
  { operations }: Pick<Recorded, 'operations'>,
  evidence: Evidence,
  seed: number,
  perOperationMax: number,
): Promise<void> {
  const places = scratchDirectory('memory')
  let count = 0
  await cutTrace({
    name: backend,
    operations,
    initially: expectationAfter('session', [], []),
    random: new Random(seed),
    evidence,
    perOperationMax,
    coarse: isLock,
    vanishing: isSharedMemory,
    async verify(image, expected) {
      const file = FILE_BACKENDS.find(({ name }) => name === backend)
      // A recorded state of files is read on the model, ten times as fast, and now and then where it would be.
      if (file !== undefined && count++ % 16 !== 0) {
        return await verifyImage(file, image, expected, { thorough: count % 4 === 0 })
      }
      const directory = join(places, String(count))
      mkdirSync(directory)
      image.writeTo(directory)
      const problem = await verifyReal(backend, directory, expected, { thorough: count++ % 4 === 0 })
      rmSync(directory, { recursive: true })
      return problem
    },
  })
}

describe.runIf(hasStrace)(
  'power cut after every system call (needs strace)',
  { timeout: 600_000 * (1 + SCALE) },
  () => {
    describe.each(REAL_BACKENDS)('%s', (backend) => {
      it('replays to exactly what the writer left', async () => {
        const { task, left } = await record(backend, SEED)
        const model = new Map([...left.nodes].filter(([path, bytes]) => bytes !== undefined && !isSharedMemory(path)))
        const real = filesBelow(task.directory)
        expect([...model.keys()].sort()).toEqual([...real.keys()].filter((path) => !isSharedMemory(path)).sort())
        for (const [path, bytes] of model) expect(real.get(path)?.equals(bytes ?? Buffer.alloc(0)), path).toBe(true)
      })

      it('loses nothing', async () => {
        const evidence = new Evidence({ statesMax: STATES })
        for (let seed = SEED; !evidence.enough; seed++) {
          const recorded = await record(backend, seed)
          const perOperation = Math.max(2, Math.ceil(STATES / (recorded.operations.length * 2)))
          await sweep(backend, recorded, evidence, seed, perOperation)
          expect(evidence.violations).toEqual([])
        }
        report(`power cuts, from system calls: ${backend}`, { 'crash states': evidence.states, violations: 0 })
        expect(evidence.states).toBeGreaterThanOrEqual(STATES)
      })

      it.each(['sync', 'sync-directory'] as const)('sees a writer that leaves out every %s', async (left) => {
        const { operations } = await record(backend, SEED)
        const weak = operations.filter(({ kind }) => kind !== left)
        const evidence = new Evidence({ violationsMax: 1 })
        await sweep(backend, { operations: weak }, evidence, SEED, 3)
        expect(evidence.violations).toHaveLength(1)
        if (backend === 'sqlite') report(`seeded bugs: leave out every ${left} of SQLite`, { caught: 1 })
      })
    })
  },
)

it.skipIf(hasStrace)('power cuts after every system call: not exercised, strace is not installed', () => {})
