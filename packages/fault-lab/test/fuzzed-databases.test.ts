// Proves that no changed database makes a reader fail without a type, hang, or give events that nobody stored.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  CostMeter,
  DatabaseFuzzer,
  layDown,
  loggedDatabase,
  mutateDatabase,
  Random,
  RawDatabase,
  REAL_BACKENDS,
  report,
  SCALE,
  SEED,
  share,
  WHOLE,
} from '../src/index.ts'
import { scratchDirectory } from './parts/scratch.ts'

const canRun = REAL_BACKENDS.includes('sqlite')

it.runIf(canRun)('is refused, or reads as what was stored', { timeout: 600_000 * (1 + SCALE) }, async () => {
  const directory = scratchDirectory('memory')
  const files = share(WHOLE.databases)
  const cost = new CostMeter()
  let fuzzer = new DatabaseFuzzer(directory, await loggedDatabase(directory, SEED, 2))
  for (let run = 0; run < files; run++) {
    if (run % 1000 === 999) fuzzer = new DatabaseFuzzer(directory, await loggedDatabase(directory, SEED + run, 2))
    const problem = (await fuzzer.next(new Random(SEED + run))) ?? cost.next()
    if (problem !== undefined) expect.fail(`run ${run}: ${problem}`)
  }
  report('fuzzed databases: sqlite', { files, 'ms of work at most': cost.longestMs, violations: 0 })
  expect(cost.growth()).toBeUndefined()
})

it.runIf(canRun)('is seen to give other values where nothing is checked', async () => {
  const directory = scratchDirectory('memory')
  const file = join(directory, 'raw.db')
  const { database } = await loggedDatabase(directory, SEED, 1)
  const valuesOf = (bytes: Buffer): string => {
    layDown(file, bytes)
    const raw = new RawDatabase(file, { readonly: true })
    try {
      return JSON.stringify(raw.all('SELECT * FROM record'))
    } finally {
      raw.close()
    }
  }
  const whole = valuesOf(database)
  const found = { refused: 0, same: 0, other: 0 }
  for (let run = 0; run < 400; run++) {
    try {
      found[valuesOf(mutateDatabase(database, new Random(SEED + run))) === whole ? 'same' : 'other']++
    } catch {
      found.refused++
    }
  }
  expect(found.other).toBeGreaterThan(0)
})

it.skipIf(canRun)('fuzzed databases: not exercised, the driver of SQLite is missing', () => {})
