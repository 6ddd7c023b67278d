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
  smallDatabase,
} from '../src/index.ts'
import { scratchDirectory } from './parts/scratch.ts'

const canRun = REAL_BACKENDS.includes('sqlite')

const SUBJECTS: Readonly<Record<string, (directory: string) => Promise<DamageSubject>>> = {
  'a database': async (directory) => damagedDatabase(directory, await smallDatabase(directory, SEED)),
  'a write-ahead log': async (directory) =>
    await damagedWriteAheadLog(directory, await loggedDatabase(directory, SEED, 2)),
}

describe.runIf(canRun).each(Object.entries(SUBJECTS))('%s', { timeout: 600_000 * (1 + SCALE) }, (_, make) => {
  it('cut at every byte', async () => {
    const subject = await make(scratchDirectory('memory'))
    const { tried, violations, same } = await cutEverywhere(subject)
    expect(violations).toEqual([])
    report(`every byte cut: ${subject.name}`, { lengths: tried, possible: subject.whole.length, violations: 0 })
    expect(same).toBeLessThan(0.2 * tried)
  })

  it('with every bit flipped', async () => {
    const subject = await make(scratchDirectory('memory'))
    const { tried, violations, same } = await flipEverywhere(subject)
    expect(violations).toEqual([])
    report(`every bit flipped: ${subject.name}`, { bits: tried, possible: subject.whole.length * 8, violations: 0 })
    expect(same).toBeLessThan(0.7 * tried)
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
