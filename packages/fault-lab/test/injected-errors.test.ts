// Proves that whichever call fails, in whatever way, the error is typed and nothing acknowledged is lost.
import { describe, expect, it } from 'vitest'
import {
  Evidence,
  FILE_BACKENDS,
  INJECTIONS,
  injectEverywhere,
  OTHER_WEAKNESSES,
  report,
  SCALE,
  SCENARIOS,
  WEAKNESSES,
} from '../src/index.ts'

/** Injections tried at each call, in turn; all of them in CI. */
const EACH = Math.min(INJECTIONS.length, Math.ceil(2.4 * SCALE))

/** These let calls fail themselves. */
const OWN_FAULTS: ReadonlySet<string> = new Set([
  'append through failing calls',
  'append through a failed sync',
  'resume with a torn tail and append',
  'delete again what could not be deleted',
  'repair again what could not be repaired',
  'create again what could not be published',
])

const scenarios = SCENARIOS.filter(({ name }) => !OWN_FAULTS.has(name))

function inTurn(call: number): readonly (typeof INJECTIONS)[number][] {
  return INJECTIONS.filter((_, index) => (index + call * 5) % INJECTIONS.length < EACH)
}

describe.each(FILE_BACKENDS)('$name, every call of every write path', { timeout: 120_000 * (1 + SCALE) }, (backend) => {
  it('fails once, and from then on', async () => {
    let runs = 0
    const evidence = new Evidence()
    for (const scenario of scenarios) {
      if (scenario.fits?.(backend) === false) continue
      runs += await injectEverywhere(backend, scenario, evidence, inTurn)
      expect(evidence.violations).toEqual([])
    }
    report(`injected errors: ${backend.name}`, { runs, violations: 0 })
    expect(runs).toBeGreaterThan(500)
  })

  it('is seen to be taken for done by a writer that repeats a failed sync', async () => {
    const evidence = new Evidence({ violationsMax: 1 })
    const weaken = WEAKNESSES['believe a repeated sync']
    for (const scenario of scenarios) {
      if (!evidence.enough) await injectEverywhere(backend, scenario, evidence, () => INJECTIONS.slice(0, 4), weaken)
    }
    expect(evidence.violations).toHaveLength(1)
  })

  it('is seen to be reported as a missing session by a reader that mixes them up', async () => {
    const evidence = new Evidence({ violationsMax: 1 })
    const weaken = OTHER_WEAKNESSES['report a failing disk as a missing session']
    for (const scenario of scenarios) {
      if (!evidence.enough) await injectEverywhere(backend, scenario, evidence, () => INJECTIONS.slice(0, 2), weaken)
    }
    expect(evidence.violations).toHaveLength(1)
  })
})
