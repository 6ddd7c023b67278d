// Proves that no cut and no flipped bit of a database passes, and that one of its write-ahead log is found by a receipt.
import { describe, expect, it } from 'vitest'
import {
  cutEverywhere,
  type DamageSubject,
  damagedDatabase,
  damagedWriteAheadLog,
  flipEverywhere,
  loggedDatabase,
  REAL_BACKENDS,
  report,
  SCALE,
  SEED,
  SEEDS,
  smallDatabase,
} from '../src/index.ts'
import { scratchDirectory } from './parts/scratch.ts'

const canRun = REAL_BACKENDS.includes('sqlite')

const SUBJECTS: Readonly<Record<string, (directory: string, seed: number) => Promise<DamageSubject>>> = {
  'a database': async (directory, seed) => damagedDatabase(directory, await smallDatabase(directory, seed)),
  'a write-ahead log': async (directory, seed) =>
    await damagedWriteAheadLog(directory, await loggedDatabase(directory, seed, 2)),
}

describe.runIf(canRun).each(Object.entries(SUBJECTS))('%s', { timeout: 600_000 * (1 + SCALE) }, (_, make) => {
  it('cut at every byte', async () => {
    const counts = { lengths: 0, possible: 0, violations: 0 }
    for (const seed of SEEDS) {
      const subject = await make(scratchDirectory('memory'), seed)
      const { tried, violations, same } = await cutEverywhere(subject)
      expect(violations).toEqual([])
      expect(same).toBeLessThan(0.2 * tried)
      counts.lengths += tried
      counts.possible += subject.whole.length
      report(`every byte cut: ${subject.name}`, counts)
    }
  })

  it('with every bit flipped', async () => {
    const counts = { bits: 0, possible: 0, violations: 0 }
    for (const seed of SEEDS) {
      const subject = await make(scratchDirectory('memory'), seed)
      const { tried, violations, same } = await flipEverywhere(subject)
      expect(violations).toEqual([])
      expect(same).toBeLessThan(0.7 * tried)
      counts.bits += tried
      counts.possible += subject.whole.length * 8
      report(`every bit flipped: ${subject.name}`, counts)
    }
  })
})

it.runIf(canRun)('sees the flips that nobody without a receipt could', async () => {
  const directory = scratchDirectory('memory')
  const { verdictOn, whole } = await damagedWriteAheadLog(directory, await loggedDatabase(directory, SEED, 2))
  const flipped = Buffer.from(whole)
  flipped[100] = (flipped[100] ?? 0) ^ 1
  expect(await verdictOn(flipped)).toMatchObject({ kind: 'prefix' })
})

it.skipIf(canRun)('damaged databases: not exercised, the driver of SQLite is missing', () => {})
