// Proves that a writer whose system calls fail, once or for ever, recovery included, loses nothing acknowledged.
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
  type SyscallPlace,
  strike,
  syscallPlaces,
} from '../src/index.ts'
import { inParallel } from './parts/in-parallel.ts'
import { newTask, removeTask, verifyTask, type WritePath, writePaths } from './parts/writer-tasks.ts'

const hasStrace = isInstalled('strace')

interface Failure extends SyscallPlace {
  readonly path: WritePath
  readonly error: string
  readonly lasting: boolean
}

/** Every place with every error, once and from then on. */
async function failures(path: WritePath): Promise<readonly Failure[]> {
  const all = await syscallPlaces(path.newTask, join(newTask(path.backend).directory, '..', 'trace'))
  return all.flatMap((place) =>
    ['EIO', 'ENOSPC', 'EDQUOT', 'EMFILE'].flatMap((error) =>
      [false, true].map((lasting) => ({ ...place, path, error, lasting })),
    ),
  )
}

describe.runIf(hasStrace)('errors of system calls (needs strace)', { timeout: 600_000 * (1 + SCALE) }, () => {
  it.each(REAL_BACKENDS)('%s', async (backend) => {
    const paths = await Promise.all(SEEDS.map((seed) => writePaths(backend, { seed, retries: 3 })))
    const possible = (await Promise.all(paths.flat().map(failures))).flat()
    let errors = 0
    await inParallel(places(possible.length), async (index) => {
      const failure = possible[index]
      if (failure === undefined) return
      const { path, error, lasting } = failure
      const task = path.newTask()
      const struck = strike(task, failure, `error=${error}`, lasting)
      const { lines, trace } = await runTraced(task, join(task.directory, '..', 'trace'), struck)
      expect(trace, `${path.name}, ${struck.rule}`).toContain('(INJECTED)')
      errors++
      const problem = await verifyTask(task, [...path.before, ...lines])
      expect(problem, `${path.name}, ${struck.rule}: ${JSON.stringify(lines)}`).toBeUndefined()
      removeTask(task)
    })
    report(`errors of system calls: ${backend}`, { errors, possible: possible.length, violations: 0 })
  })

  it('sees a writer that takes a sync after a failed write for a repair', async () => {
    const task = newTask('jsonl', { batches: 4, weakness: 'believe a repeated sync' })
    const struck = strike(task, { call: 'write', when: 2 }, 'error=EIO')
    const { lines } = await runTraced(task, join(task.directory, '..', 'trace'), struck)
    expect(await verifyTask(task, lines)).toEqual(expect.stringMatching(/acknowledged|CORRUPT|is not the one/))
  })
})

it.skipIf(hasStrace)('errors at system calls: not exercised, strace is not installed', () => {})
