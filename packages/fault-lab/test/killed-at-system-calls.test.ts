// Proves that a writer that the kernel kills at any of its system calls, recovery included, loses nothing acknowledged.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  isInstalled,
  places,
  REAL_BACKENDS,
  report,
  runTraced,
  SCALE,
  SEEDS,
  strike,
  syscallPlaces,
} from '../src/index.ts'
import { inParallel } from './parts/in-parallel.ts'
import { newTask, removeTask, verifyTask, writePaths } from './parts/writer-tasks.ts'

const hasStrace = isInstalled('strace')

describe.runIf(hasStrace)('killed at a system call (needs strace)', { timeout: 600_000 * (1 + SCALE) }, () => {
  it.each(REAL_BACKENDS)('%s', async (backend) => {
    let kills = 0
    let possible = 0
    let survived = 0
    const paths = await Promise.all(SEEDS.map((seed) => writePaths(backend, { seed })))
    for (const path of paths.flat()) {
      const all = await syscallPlaces(path.newTask, join(newTask(backend).directory, '..', 'trace'))
      possible += all.length
      await inParallel(places(all.length), async (index) => {
        const place = all[index]
        if (place === undefined) return
        const task = path.newTask()
        const { lines } = await runTraced(task, join(task.directory, '..', 'trace'), strike(task, place, 'signal=KILL'))
        if (lines.at(-1)?.word === 'done') survived++
        kills++
        expect(await verifyTask(task, [...path.before, ...lines]), `${path.name}, ${place.call} ${place.when}`).toBe(
          undefined,
        )
        removeTask(task)
      })
    }
    report(`killed at a system call: ${backend}`, { kills, possible, survived, violations: 0 })
    expect(survived).toBe(0)
  })

  it('sees a writer that acknowledges before it writes', async () => {
    const problems: unknown[] = []
    for (let when = 1; when <= 4 && problems.length === 0; when++) {
      const task = newTask('jsonl', { batches: 6, weakness: 'acknowledge before the write' })
      const struck = strike(task, { call: 'write', when }, 'signal=KILL')
      const { lines } = await runTraced(task, join(task.directory, '..', 'trace'), struck)
      const problem = await verifyTask(task, lines)
      if (problem !== undefined) problems.push(problem)
    }
    expect(problems).toHaveLength(1)
  })
})

it.skipIf(hasStrace)('kills at system calls: not exercised, strace is not installed', () => {})
