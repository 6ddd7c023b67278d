/** Cuts and flips of the logs of one file backend. */
import { describe, expect, it } from 'vitest'
import {
  cutEverywhere,
  damagedLog,
  type FileBackend,
  flipEverywhere,
  report,
  SCALE,
  SEEDS,
  WHOLE,
} from '../../src/index.ts'

export function damagedLogs(backend: FileBackend): void {
  describe(`a log of 16 KiB, ${backend.name}`, { timeout: 600_000 * (1 + SCALE) }, () => {
    it('cut at every byte', async () => {
      const counts = { lengths: 0, possible: 0, violations: 0 }
      for (const seed of SEEDS) {
        const subject = await damagedLog(backend, WHOLE.logBytes, seed)
        const { tried, refused, violations } = await cutEverywhere(subject)
        expect(violations).toEqual([])
        // Only a cut of the header is refused: any other one is a torn tail.
        expect(refused).toBeLessThan(500)
        counts.lengths += tried
        counts.possible += subject.whole.length
      }
      report(`every byte cut: ${backend.name}`, counts)
    })

    it('with every bit flipped', async () => {
      const counts = { bits: 0, possible: 0, violations: 0 }
      for (const seed of SEEDS) {
        const subject = await damagedLog(backend, WHOLE.logBytes, seed)
        const { tried, refused, violations } = await flipEverywhere(subject)
        expect(violations).toEqual([])
        expect(refused).toBeGreaterThan(0.8 * tried)
        counts.bits += tried
        counts.possible += subject.whole.length * 8
      }
      report(`every bit flipped: ${backend.name}`, counts)
    })
  })
}
