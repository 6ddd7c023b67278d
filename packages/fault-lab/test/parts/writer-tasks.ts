/** Tasks for writer processes, each in a directory of its own, and what must be left when one is over. */
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import {
  expectationAfter,
  type RealBackend,
  runWriter,
  SEED,
  taskBatches,
  verifyReal,
  type WriterLine,
  type WriterTask,
} from '../../src/index.ts'
import { scratchDirectory } from './scratch.ts'

export function newTask(backend: RealBackend, more: Partial<WriterTask> = {}): WriterTask {
  const directory = join(scratchDirectory('memory'), 'd')
  mkdirSync(directory)
  return { backend, directory, id: 'session', seed: SEED, batches: 4, bytes: 60, ...more }
}

export function removeTask({ directory }: WriterTask): void {
  rmSync(join(directory, '..'), { recursive: true, force: true })
}

/** Undefined when everything that was acknowledged is there, and nothing failed without a type. */
export async function verifyTask(task: WriterTask, lines: readonly WriterLine[]): Promise<string | undefined> {
  const untyped = lines.find(({ code }) => code.startsWith('untyped'))
  if (untyped !== undefined) return untyped.code
  const expected = expectationAfter(task.id, taskBatches(task).flat(), lines)
  return await verifyReal(task.backend, task.directory, expected, { thorough: true })
}

/** A way through the code that writes, from the same start every time. */
export interface WritePath {
  readonly name: string
  readonly backend: RealBackend
  /** What was said before. */
  readonly before: readonly WriterLine[]
  readonly newTask: () => WriterTask
}

/** Everything from nothing; and from what a killed writer left, torn in its last batch. */
export async function writePaths(backend: RealBackend, more: Partial<WriterTask> = {}): Promise<readonly WritePath[]> {
  const all = { batches: 2, reopenEvery: 1, neighbour: true, ...more }
  const store = { name: 'store', backend, before: [], newTask: () => newTask(backend, all) }
  const killed = newTask(backend, { ...more, batches: 3, holds: true, retries: 0 })
  const { lines } = await runWriter(killed, { onLine: ({ word }, run) => (word === 'done' ? run.kill() : undefined) })
  tear(killed)
  const acks = lines.filter(({ word }) => word === 'ack')
  const before = lines.filter((line) => line !== acks.at(-1) && line.word !== 'done')
  const recover = (): WriterTask => {
    const task = newTask(backend, { ...all, neighbour: false, batches: 4, reopenEvery: 2 })
    cpSync(killed.directory, task.directory, { recursive: true })
    return task
  }
  return [store, { name: 'recover', backend, before, newTask: recover }]
}

/** Cuts the last bytes of the log, which belong to the last batch. */
function tear({ backend, directory }: WriterTask): void {
  const [log] = (readdirSync(directory, { recursive: true }) as string[]).filter((name) =>
    (backend === 'sqlite' ? /db-wal$/ : /session\.jsonl(?:\.zst)?$/).test(name),
  )
  if (log === undefined) throw new Error('the killed writer left no log')
  const path = join(directory, log)
  truncateSync(path, statSync(path).size - 7)
}
