// Proves that a writer that is killed at random loses nothing acknowledged.
import { describe, expect, it } from 'vitest'
import { Random, REAL_BACKENDS, report, runWriter, SCALE, SEED, share, WHOLE } from '../src/index.ts'
import { inParallel } from './parts/in-parallel.ts'
import { newTask, removeTask, verifyTask } from './parts/writer-tasks.ts'

describe('killed at any moment', { timeout: 600_000 * (1 + SCALE) }, () => {
  it.each(REAL_BACKENDS)('%s', async (backend) => {
    const rounds = share(Math.ceil(WHOLE.kills / REAL_BACKENDS.length))
    await inParallel(Array(rounds).keys(), async (round) => {
      const random = new Random(SEED + round)
      const more = { batches: 20, seed: SEED + round, reopenEvery: 2, neighbour: true }
      const task = newTask(backend, more)
      // Words come in bursts: some of them are heard only after the writer has gone on.
      let left = 1 + random.below(40)
      const { lines } = await runWriter(task, { onLine: (_, run) => (--left === 0 ? run.kill() : undefined) })
      expect(await verifyTask(task, lines), `round ${round}`).toBeUndefined()
      removeTask(task)
    })
    report(`killed at any moment: ${backend}`, { kills: rounds, violations: 0 })
  })

  it('sees a writer that acknowledges before it writes', async () => {
    const problems: unknown[] = []
    for (let ack = 1; ack <= 8 && problems.length === 0; ack++) {
      const task = newTask('jsonl', { batches: 20, weakness: 'acknowledge before the write' })
      let left = ack
      const { lines } = await runWriter(task, {
        onLine: ({ word }, run) => (word === 'ack' && --left === 0 ? run.kill() : undefined),
      })
      const problem = await verifyTask(task, lines)
      if (problem !== undefined) problems.push(problem)
    }
    expect(problems).toHaveLength(1)
  })
})
