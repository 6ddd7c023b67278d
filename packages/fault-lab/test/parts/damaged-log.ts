/** Cuts and flips of the logs of one file backend. */
import { describe, expect, it } from 'vitest'
import {
  cutEverywhere,
  damagedLog,
  type FileBackend,
  flipEverywhere,
  report,
  SCALE,
  SEED,
  WHOLE,
} from '../../src/index.ts'

export function damagedLogs(backend: FileBackend): void {
  describe(`a log of 16 KiB, ${backend.name}`, { timeout: 600_000 * (1 + SCALE) }, () => {
    it('cut at every byte', async () => {
      const subject = await damagedLog(backend, WHOLE.logBytes, SEED)
      const { tried, refused, violations } = await cutEverywhere(subject)
      expect(violations).toEqual([])
      report(`every byte cut: ${backend.name}`, { lengths: tried, possible: subject.whole.length, violations: 0 })
      // Only a cut of the header is refused: any other one is a torn tail.
      expect(refused).toBeLessThan(500)
    })

    it('with every bit flipped', async () => {
      const subject = await damagedLog(backend, WHOLE.logBytes, SEED)
      const { tried, refused, violations } = await flipEverywhere(subject)
      expect(violations).toEqual([])
      report(`every bit flipped: ${backend.name}`, { bits: tried, possible: subject.whole.length * 8, violations: 0 })
      expect(refused).toBeGreaterThan(0.8 * tried)
    })
  })
}
