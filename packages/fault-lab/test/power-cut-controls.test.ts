// Proves that the modelled power cuts see: a backend that forgets one step is caught, for each step.
import { describe, expect, it } from 'vitest'
import { cutPower, Evidence, JSONL, JSONL_ZSTD, killEverywhere, report, SCENARIOS, WEAKNESSES } from '../src/index.ts'

describe.each([JSONL, JSONL_ZSTD])('$name', { timeout: 120_000 }, (backend) => {
  it.each(Object.entries(WEAKNESSES))('%s', async (name, weaken) => {
    const evidence = new Evidence({ violationsMax: 1 })
    for (const scenario of SCENARIOS) {
      if (scenario.fits?.(backend) === false) continue
      const campaign = { backend, scenario, seed: 1, evidence, weaken, perOperationMax: 6 }
      await cutPower(campaign)
      if (!evidence.enough) await killEverywhere(campaign)
      if (evidence.enough) break
    }
    expect(evidence.violations).toHaveLength(1)
    report(`seeded bugs: ${name}`, { caught: 1 })
  })
})
