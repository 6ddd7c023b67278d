// Proves that a row counts as reached only when every suite of it did as much as it should.
import { expect, it } from 'vitest'
import { type SuiteEvidence, TARGETS, type Target, verdictOf } from '../src/index.ts'

const target: Target = {
  row: 'a row',
  figure: '10 of each, all there are',
  why: 'x',
  goals: [
    { suite: 'cuts', count: 'states', over: 'sum', least: 10 },
    { suite: 'kills', count: 'kills', over: { each: 2 }, least: 'possible' },
  ],
}

function evidence(suite: string, figures: SuiteEvidence['figures']): SuiteEvidence {
  return { suite, seed: 1, scale: 5, figures }
}

const whole = [
  evidence('cuts: one', { states: 4, violations: 0 }),
  evidence('cuts: two', { states: 6, violations: 0 }),
  evidence('kills: one', { kills: 3, possible: 3, violations: 0 }),
  evidence('kills: two', { kills: 5, possible: 5, violations: 0 }),
]

it('reached by the sum, and by each', () => {
  expect(verdictOf(target, whole)).toMatchObject({ verdict: 'reached', violations: 0 })
})

it('not reached where one is missing, or did not do all', () => {
  expect(verdictOf(target, whole.slice(1)).verdict).toBe('not reached')
  expect(verdictOf(target, whole.slice(0, 3)).verdict).toBe('not reached')
  const fewer = evidence('kills: two', { kills: 4, possible: 5, violations: 0 })
  expect(verdictOf(target, [...whole.slice(0, 3), fewer]).verdict).toBe('not reached')
})

it('not exercised where no suite of a goal ran, whose names only begin alike', () => {
  expect(verdictOf(target, whole.slice(0, 2)).verdict).toBe('not exercised')
  expect(verdictOf(target, [...whole.slice(0, 2), evidence('kills of others: x', { kills: 9 })]).verdict).toBe(
    'not exercised',
  )
})

it('with every violation counted', () => {
  expect(verdictOf(target, [...whole, evidence('cuts: three', { states: 1, violations: 2 })]).violations).toBe(2)
})

it('the table has every row with a goal and a reason', () => {
  expect(TARGETS).toHaveLength(13)
  for (const { goals, why } of TARGETS) expect([goals.length > 0, why.length > 20]).toEqual([true, true])
})
