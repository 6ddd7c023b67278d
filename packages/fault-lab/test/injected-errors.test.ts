// Proves that whichever call fails, in whatever way, the error is typed and nothing acknowledged is lost.
import { describe, expect, it } from 'vitest'
import {
  Evidence,
  FILE_BACKENDS,
  INJECTIONS,
  type Injection,
  injectEverywhere,
  OTHER_WEAKNESSES,
  report,
  SCALE,
  SCENARIOS,
  share,
  WEAKNESSES,
} from '../src/index.ts'

/** Injections tried at each call, in turn; all of them at the whole scale. */
const EACH = Math.min(INJECTIONS.length, share(INJECTIONS.length))

function inTurn(call: number): readonly Injection[] {
  return INJECTIONS.filter((_, index) => (index + call * 5) % INJECTIONS.length < EACH)
}

describe.each(FILE_BACKENDS)('$name, every call of every write path', { timeout: 600_000 * (1 + SCALE) }, (backend) => {
  const scenarios = SCENARIOS.filter(({ fits }) => fits?.(backend) !== false)

  it('fails once, and from then on', async () => {
    let runs = 0
    let calls = 0
    const evidence = new Evidence()
    const choose = (call: number): readonly Injection[] => {
      calls++
      return inTurn(call)
    }
    for (const scenario of scenarios) {
      runs += await injectEverywhere(backend, scenario, evidence, choose)
      expect(evidence.violations).toEqual([])
    }
    report(`injected errors: ${backend.name}`, { runs, possible: calls * INJECTIONS.length, violations: 0 })
    expect(calls).toBeGreaterThan(800)
  })

  it.each([
    ['believe a repeated sync', WEAKNESSES, 4],
    ['report a failing disk as a missing session', OTHER_WEAKNESSES, 2],
  ] as const)('sees a backend that would %s', async (name, from, injections) => {
    const evidence = new Evidence({ violationsMax: 1 })
    for (const scenario of scenarios) {
      const choose = (): readonly Injection[] => INJECTIONS.slice(0, injections)
      if (!evidence.enough) await injectEverywhere(backend, scenario, evidence, choose, from[name])
    }
    expect(evidence.violations).toHaveLength(1)
    report(`seeded bugs: ${name}`, { caught: 1 })
  })
})
