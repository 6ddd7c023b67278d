// Proves in a short form of what runs for minutes on demand: two processes with random operations and faults lose
// nothing, and the one that lives through it holds no more in the end.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REAL_BACKENDS, report, SCALE, SEED, share, soak } from '../src/index.ts'
import { scratchDirectory } from './parts/scratch.ts'

describe.each(REAL_BACKENDS)('%s', { timeout: 600_000 * (1 + SCALE) }, (backend) => {
  it('two processes', async () => {
    const directory = join(scratchDirectory('memory'), 'd')
    const { violations, early, late, ...counts } = await soak({
      backend,
      directory,
      seed: SEED,
      operations: 200 + share(2000),
    })
    expect(violations).toEqual([])
    report(`soak: ${backend}`, { processes: 2, ...counts, violations: 0 })
    expect([counts.operations > 200, counts.acknowledgements > 50]).toEqual([true, true])
    expect(late?.operations).toBeGreaterThan(early?.operations ?? 0)
  })
})

it('sees a process that leaves its readers open', { timeout: 600_000 }, async () => {
  const directory = join(scratchDirectory('memory'), 'd')
  const { violations } = await soak({ backend: 'jsonl', directory, seed: SEED, operations: 200, leaks: true })
  expect(violations).toContainEqual(expect.stringMatching(/^handles grew/))
})
