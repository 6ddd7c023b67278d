// Proves that the gate closes on a slowdown of 1.3 in any metric, stays open for noise, and that nothing vanishes.
import fs from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ATTEMPTS, CLEAR_ATTEMPTS } from '../src/gate/attempts.ts'
import {
  type Baseline,
  compareToBaseline,
  type GateMetric,
  isViolation,
  platformName,
  TOLERANCE,
  TOLERANCE_BESIDE,
} from '../src/gate/baseline.ts'
import { EVERY } from '../src/gate/cpu-metrics.ts'
import { type GateScope, measureGate } from '../src/gate/measure-gate.ts'
import { ATTEMPTS_ALONE, runGate } from '../src/gate/run-gate.ts'

const committed = JSON.parse(fs.readFileSync(new URL('../baseline.json', import.meta.url), 'utf8')) as Baseline

const baseline = (metrics: { readonly [name: string]: GateMetric }, platform = 'here'): Baseline => ({
  format: 'session-persistence-bench-baseline',
  version: 1,
  platform,
  metrics,
})

const measured = (metrics: { readonly [name: string]: GateMetric }): ReadonlyMap<string, GateMetric> =>
  new Map(Object.entries(metrics))

const cpu = (value: number): GateMetric => ({ kind: 'cpu', value })
const count = (value: number): GateMetric => ({ kind: 'count', value })

describe('compareToBaseline', () => {
  it('finds nothing where nothing changed', () => {
    expect(compareToBaseline(committed, committed.platform, measured(committed.metrics))).toEqual([])
  })

  it.each(Object.entries(committed.metrics))('closes when %s becomes 1.3 times as large', (name, metric) => {
    // A count of none becomes one: there is nothing to multiply.
    const value = metric.value === 0 ? 1 : metric.value * 1.3
    const findings = compareToBaseline(
      committed,
      committed.platform,
      measured({ ...committed.metrics, [name]: { ...metric, value } }),
    )
    expect(findings).toEqual([
      { kind: 'worse', metric: name, baseline: metric.value, value, tolerance: TOLERANCE[metric.kind] },
    ])
    expect(findings.every(isViolation)).toBe(true)
  })

  it('stays open for what is within the tolerance, and only for that', () => {
    fc.assert(
      fc.property(fc.constantFrom('cpu', 'count'), fc.double({ min: 0.01, max: 1e6, noNaN: true }), (kind, value) => {
        const before = baseline({ a: { kind, value } })
        const at = (factor: number): readonly string[] =>
          compareToBaseline(before, 'here', measured({ a: { kind, value: value * factor } })).map((found) => found.kind)
        expect(at(TOLERANCE[kind] * 0.9999)).toEqual([])
        expect(at(TOLERANCE[kind] * 1.0001)).toEqual(['worse'])
        expect(at(0.9999 / TOLERANCE[kind])).toEqual(['better'])
      }),
    )
  })

  it('does not let a metric vanish', () => {
    const findings = compareToBaseline(baseline({ a: count(1) }), 'here', new Map())
    expect(findings).toEqual([{ kind: 'missing', metric: 'a' }])
    expect(findings.some(isViolation)).toBe(true)
  })

  it('names what is new and lets it pass', () => {
    const findings = compareToBaseline(baseline({}), 'here', measured({ a: count(2) }))
    expect(findings).toEqual([{ kind: 'new', metric: 'a', value: 2 }])
    expect(findings.some(isViolation)).toBe(false)
  })

  it('compares counts on every platform, and CPU ratios on their own only', () => {
    const before = baseline({ counted: count(1), timed: cpu(1) }, 'elsewhere')
    const findings = compareToBaseline(before, 'here', measured({ counted: count(2), timed: cpu(9) }))
    expect(findings).toEqual([
      { kind: 'worse', metric: 'counted', baseline: 1, value: 2, tolerance: TOLERANCE.count },
      { kind: 'incomparable', metric: 'timed' },
    ])
  })
})

describe('runGate', () => {
  it('measures again what seems worse, and lets it pass when it was noise', async () => {
    const values = [1.4, 0.95, 0.9]
    const scopes: GateScope[] = []
    const result = await runGate({
      baseline: baseline({ a: cpu(1), b: count(1) }, platformName()),
      backends: [],
      measure: async (scope) => {
        scopes.push(scope)
        return measured({ a: cpu(values[scopes.length - 1] ?? 0), ...(scope.counts ? { b: count(1) } : {}) })
      },
    })
    expect(result.passed).toBe(true)
    // Until what they have in the middle is no longer doubtful; counts are counted once.
    expect(scopes.map(({ counts }) => counts)).toEqual([true, false, false])
    expect(result.metrics.get('a')?.value).toBeCloseTo(1.0618, 4)
  })

  it('measures again only the backends in which something seems worse', async () => {
    const scopes: GateScope[] = []
    const before = baseline(
      { 'cpu/a jsonl': cpu(1), 'cpu/a sqlite': cpu(1), 'calls/a jsonl': count(1) },
      platformName(),
    )
    const result = await runGate({
      baseline: before,
      backends: [],
      measure: async (scope) => {
        scopes.push(scope)
        const jsonl = { 'cpu/a jsonl': cpu(scopes.length === 1 ? 1.12 : 1), 'calls/a jsonl': count(1) }
        return measured(scopes.length === 1 ? { ...jsonl, 'cpu/a sqlite': cpu(1) } : jsonl)
      },
    })
    expect(result.passed).toBe(true)
    expect(scopes).toEqual([
      { backends: [], counts: true, memory: true },
      { backends: ['jsonl'], counts: false, memory: false },
    ])
  })

  it('closes when most measurements are worse, and one undisturbed measurement does not open it', async () => {
    const values = [1.3, 1.02, 1.31, 1.28, 1.3, 1.3, 1.29, 1.3, 1.31]
    let measurements = 0
    const result = await runGate({
      baseline: baseline({ a: cpu(1) }, platformName()),
      backends: [],
      measure: async () => measured({ a: cpu(values[measurements++] ?? 0) }),
    })
    expect([result.passed, measurements]).toEqual([false, ATTEMPTS])
    // Their geometric mean.
    expect(result.metrics.get('a')?.value).toBeCloseTo(1.264, 3)
  })

  it('stays open where processes fall into two groups and the first ones into the dearer', async () => {
    const values = [1.25, 1.2, 1.22, 0.95, 0.94, 1.2, 0.95, 0.96, 0.95]
    let measurements = 0
    const result = await runGate({
      baseline: baseline({ a: cpu(1.05) }, platformName()),
      backends: [],
      measure: async () => measured({ a: cpu(values[measurements++] ?? 0) }),
    })
    expect([result.passed, measurements]).toEqual([true, 4])
  })

  it('closes when all measurements agree, of counts as well', async () => {
    let measurements = 0
    const slow = await runGate({
      baseline: baseline({ a: cpu(1) }, platformName()),
      backends: [],
      measure: async () => {
        measurements++
        return measured({ a: cpu(1.3) })
      },
    })
    expect([slow.passed, measurements]).toEqual([false, CLEAR_ATTEMPTS])
    measurements = 0
    const counted = await runGate({
      baseline: baseline({ a: count(1) }, platformName()),
      backends: [],
      measure: async () => {
        measurements++
        return measured({ a: count(2) })
      },
    })
    expect([counted.passed, measurements]).toEqual([false, CLEAR_ATTEMPTS])
  })

  describe('in doubt, beside the code of the baseline', () => {
    const SLOW_MACHINE = 1.25
    /** A machine that makes everything dearer than it was when the baseline was taken. */
    const gate = async (factor: number, then: GateMetric = cpu(SLOW_MACHINE)): Promise<string> => {
      const order: string[] = []
      const slowdown = { metric: EVERY, factor }
      const result = await runGate({
        baseline: baseline(
          { 'cpu/a jsonl': cpu(1), 'cpu/a sqlite': cpu(2), 'calls/a jsonl': count(1) },
          platformName(),
        ),
        backends: [],
        slowdown,
        measure: async (scope) => {
          order.push('now')
          expect(scope.slowdown).toBe(slowdown)
          const jsonl = measured({ 'cpu/a jsonl': cpu(SLOW_MACHINE * factor) })
          return scope.counts ? new Map([...jsonl, ['cpu/a sqlite', cpu(2)], ['calls/a jsonl', count(1)]]) : jsonl
        },
        baselineCode: async () => async (scope) => {
          order.push('then')
          expect(scope).toEqual({ backends: ['jsonl'], counts: false, memory: false })
          return measured({ [then.kind === 'cpu' ? 'cpu/a jsonl' : 'cpu/other jsonl']: then })
        },
      })
      const findings = result.findings.map(({ kind, metric, ...rest }) =>
        'tolerance' in rest ? `${kind} ${metric}, at most ${rest.tolerance}` : kind,
      )
      return [...findings, result.passed ? 'open' : 'closed', order.join(' ')].join('; ')
    }
    const alone = Array.from({ length: ATTEMPTS_ALONE }, () => 'now').join(' ')
    const pairs = (most: number): string =>
      Array.from({ length: most }, (_, pair) => (pair % 2 === 0 ? 'then now' : 'now then')).join(' ')

    it('stays open for a machine that makes both slower, after enough pairs to tell', async () => {
      expect(await gate(1.0001)).toBe(`open; ${alone} ${pairs(CLEAR_ATTEMPTS)}`)
    })

    it('closes for a slowdown, by less than the figures alone would need', async () => {
      const tolerance = TOLERANCE_BESIDE.cpu
      expect(tolerance).toBeLessThan(TOLERANCE.cpu)
      const closed = `worse cpu/a jsonl, at most ${tolerance}; closed; ${alone} ${pairs(CLEAR_ATTEMPTS)}`
      expect(await gate(tolerance * 1.001)).toBe(closed)
      expect(await gate(1.3)).toBe(closed)
    })

    it('takes enough pairs of every metric, also of one that the first pair clears', async () => {
      const metrics = ['cpu/a jsonl', 'cpu/a sqlite']
      const all = (scope: GateScope, value: (name: string) => number): ReadonlyMap<string, GateMetric> => {
        const asked = metrics.filter((name) => scope.backends.length === 0 || scope.backends.includes(name.slice(6)))
        return new Map(asked.map((name) => [name, cpu(value(name))]))
      }
      let pairs = 0
      const result = await runGate({
        baseline: baseline(Object.fromEntries(metrics.map((name) => [name, cpu(1)])), platformName()),
        backends: [],
        measure: async (scope) => all(scope, () => 1.3),
        baselineCode: async () => async (scope) => {
          pairs++
          // One of its first processes fell into the dearer group.
          return all(scope, (name) => (pairs === 1 && name === 'cpu/a sqlite' ? 1.35 : 1))
        },
      })
      expect(result.findings.map(({ kind, metric }) => [kind, metric])).toEqual([
        ['worse', 'cpu/a jsonl'],
        ['worse', 'cpu/a sqlite'],
      ])
    })

    it('goes by the figures where that code does not know the metric', async () => {
      expect(await gate(1.3, count(1))).toMatch(
        new RegExp(`^worse cpu/a jsonl, at most ${TOLERANCE.cpu}; closed; ${alone} then now`),
      )
    })

    it('asks for it once, only in doubt of what differs between machines, and goes on with the figures without it', async () => {
      let asked = 0
      const attempts = async (value: GateMetric): Promise<number> => {
        let measurements = 0
        await runGate({
          baseline: baseline({ a: { ...value, value: 1 } }, platformName()),
          backends: [],
          measure: async () => {
            measurements++
            return measured({ a: value })
          },
          baselineCode: async () => {
            asked++
            return undefined
          },
        })
        return measurements
      }
      expect([await attempts(cpu(1)), asked]).toEqual([1, 0])
      expect([await attempts(count(2)), asked]).toEqual([ATTEMPTS_ALONE, 0])
      expect([await attempts(cpu(1.3)), asked]).toEqual([CLEAR_ATTEMPTS, 1])
      expect([await attempts(cpu(1.15)), asked]).toEqual([ATTEMPTS, 2])
    })
  })

  // Four times as slow: far outside what a busy machine does, since this proves the mechanism and no number. In memory,
  // so that no disk is waited for.
  it('notices a real slowdown that was put into every metric at once', { timeout: 600_000 }, async () => {
    const scope: GateScope = { backends: ['memory'], counts: false, memory: true }
    const before = await measureGate(scope)
    const slow = await measureGate({ ...scope, slowdown: { metric: EVERY, factor: 4 } })
    const result = await runGate({
      baseline: baseline(Object.fromEntries(before), platformName()),
      backends: ['memory'],
      measure: async () => slow,
    })
    expect(before.size).toBeGreaterThan(2)
    expect(result.passed).toBe(false)
    expect(result.findings.filter(isViolation).map(({ metric }) => metric)).toEqual([...before.keys()])
  })
})
