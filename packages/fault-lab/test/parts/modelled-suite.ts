/** The two modelled suites of one file backend. */
import { describe, expect, it } from 'vitest'
import {
  cutPower,
  Evidence,
  FILE_BACKENDS,
  type FileBackend,
  killEverywhere,
  report,
  SCALE,
  SCENARIOS,
  SEED,
  share,
  WHOLE,
} from '../../src/index.ts'

const STATES = share(Math.ceil(WHOLE.modelledStates / FILE_BACKENDS.length))
/** Few enough that every write path has its turn, many enough that most of the time is not spent in playing them. */
const PER_OPERATION = Math.max(20, share(200))

export function modelledSuite(backend: FileBackend): void {
  const scenarios = SCENARIOS.filter(({ fits }) => fits?.(backend) !== false)

  describe(`${backend.name}, power cut after every operation`, { timeout: 600_000 * (1 + SCALE) }, () => {
    it('of a process that recovers from the death of another', async () => {
      let kills = 0
      const killed = new Evidence()
      for (const scenario of scenarios) {
        const campaign = { backend, scenario, seed: SEED, evidence: killed, perOperationMax: Math.ceil(SCALE) }
        kills += await killEverywhere(campaign)
        expect(killed.violations).toEqual([])
      }
      report(`kill, recover, power cut: ${backend.name}`, { kills, 'crash states': killed.states, violations: 0 })
      expect(kills).toBeGreaterThan(WHOLE.modelledKills)
    })

    it('of every write path', async () => {
      const evidence = new Evidence({ statesMax: STATES })
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
