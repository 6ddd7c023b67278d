// Proves that a database whose making fails at any of its writes does not appear: nothing could ever open it.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isInstalled, REAL_BACKENDS, runTraced, strike } from '../src/index.ts'
import { inParallel } from './parts/in-parallel.ts'
import { newTask, verifyTask } from './parts/writer-tasks.ts'

const canRun = isInstalled('strace') && REAL_BACKENDS.includes('sqlite')

/** The schema moves from the log to its place in the middle of these, and SQLite hides what fails when it closes. */
const LAST_WRITES = [18, 20, 22, 24, 25, 26, 27, 28, 29, 30, 32, 34]

it.runIf(canRun)('a database whose last writes fail for ever', { timeout: 120_000 }, async () => {
  await inParallel(LAST_WRITES, async (when) => {
    const task = newTask('sqlite', { batches: 1 })
    const struck = strike(task, { call: 'pwrite64', when }, 'error=EIO', true)
    const { lines } = await runTraced(task, join(task.directory, '..', 'trace'), struck)
    expect(await verifyTask(task, lines), struck.rule).toBeUndefined()
  })
})

it.skipIf(canRun)('unfinished databases: not exercised, strace or the driver of SQLite is missing', () => {})
