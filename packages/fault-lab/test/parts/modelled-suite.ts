/** The two modelled suites of one file backend. */
import { describe, expect, it } from 'vitest'
import {
  cutPower,
  Evidence,
  type FileBackend,
  killEverywhere,
  report,
  SCALE,
  SCENARIOS,
  SEED,
} from '../../src/index.ts'

/** A tenth of a million states over three backends by default, a million in CI. */
const STATES = Math.round((SCALE >= 5 ? 67_000 : 34_000) * SCALE)
/** Few enough that every write path has its turn. */
const PER_OPERATION = Math.ceil(20 * SCALE)

export function modelledSuite(backend: FileBackend): void {
  const scenarios = SCENARIOS.filter(({ fits }) => fits?.(backend) !== false)

  describe(`${backend.name}, power cut after every operation`, { timeout: 60_000 * (4 + 4 * SCALE) }, () => {
    const evidence = new Evidence({ statesMax: STATES })
    let kills = 0

    it('of a process that recovers from the death of another', async () => {
      const killed = new Evidence()
      for (const scenario of scenarios) {
        kills += await killEverywhere({ backend, scenario, seed: SEED, evidence: killed, perOperationMax: 1 })
        expect(killed.violations).toEqual([])
      }
      report(`kill, recover, power cut: ${backend.name}`, { kills, 'crash states': killed.states, violations: 0 })
      expect(kills).toBeGreaterThan(50)
    })

    it('of every write path', async () => {
      for (let seed = SEED; !evidence.enough; seed++) {
        for (const scenario of scenarios) {
          await cutPower({ backend, scenario, seed, evidence, perOperationMax: PER_OPERATION })
          expect(evidence.violations).toEqual([])
        }
      }
      report(`power cuts, modelled: ${backend.name}`, { 'crash states': evidence.states, violations: 0 })
      expect(evidence.states).toBeGreaterThanOrEqual(STATES)
    })
  })
}
