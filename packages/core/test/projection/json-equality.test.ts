// Proves that two values are equal exactly when their canonical JSON is, and that a difference is named without payload.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstDifference } from '../../src/projection/json-equality.ts'
import { SCALE } from './proposals.ts'

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  const keys = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return { sorted: keys.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, canonical(inner)]) }
}

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).reverse()
  return Object.fromEntries([...entries.map(([key, inner]) => [key, shuffled(inner)]), ['not there', undefined]])
}

/** Few keys and values, so that equal and nearly equal pairs are common. */
const small = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.constantFrom(null, true, 0, 1, '', 'a'), tie('list'), tie('record')),
  list: fc.array(tie('value'), { maxLength: 2 }),
  record: fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'toString'), tie('value'), { maxKeys: 2 }),
})).value

describe('firstDifference', () => {
  it('is undefined exactly for equal JSON', () => {
    let equal = 0
    fc.assert(
      fc.property(small, small, (a, b) => {
        const same = JSON.stringify(canonical(a)) === JSON.stringify(canonical(b))
        if (same) equal += 1
        expect(firstDifference(a, b) === undefined).toBe(same)
        expect(firstDifference(b, a) === undefined).toBe(same)
      }),
      { numRuns: 5_000 * SCALE, seed: 20_240_605 },
    )
    expect(equal).toBeGreaterThan(50)
  })

  it('ignores key order and absent keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(firstDifference(value, shuffled(value))).toBeUndefined()
        expect(firstDifference(shuffled(value), value)).toBeUndefined()
      }),
      { numRuns: 500 * SCALE, seed: 20_240_606 },
    )
  })

  it.each<[unknown, unknown, string]>([
    [
      { messages: [{ role: 'a' }, { role: 'b' }] },
      { messages: [{ role: 'a' }, { role: 'secret' }] },
      '$.messages[1].role: different string values',
    ],
    [{ messages: ['secret'] }, { messages: ['secret', 'more'] }, '$.messages: array of 1 against array of 2'],
    [{ config: { temperature: 1 } }, { config: { temperature: '1' } }, '$.config.temperature: number against string'],
    [{ system: 'secret' }, {}, '$.system: string against absent'],
    [{}, { tools: [] }, '$.tools: absent against array'],
    [{ a: null }, { a: {} }, '$.a: null against object'],
    [{ 'a key': 1 }, { 'a key': 2 }, '$["a key"]: different number values'],
    [{ a: [undefined] }, { a: [null] }, '$.a[0]: absent against null'],
    [{ a: {} }, { a: new Map([[1, 2]]) }, '$.a: object against no JSON value'],
    [{ a: {} }, { a: new Date(0) }, '$.a: object against no JSON value'],
    [{ a: 1 }, { a: 1n }, '$.a: number against bigint'],
  ])('names where and what kind: %j', (a, b, difference) => {
    expect(firstDifference(a, b)).toBe(difference)
  })

  it('cuts long keys', () => {
    const difference = firstDifference({ ['k'.repeat(1_000)]: 1 }, {})
    expect(difference).toBe(`$["${'k'.repeat(64)}…"]: number against absent`)
  })

  it('does not look into identical references', () => {
    const untouchable = new Proxy({}, { ownKeys: () => expect.unreachable() })
    expect(firstDifference({ a: untouchable }, { a: untouchable })).toBeUndefined()
  })

  it('ends on a request that contains itself', () => {
    const cyclic: { inner?: unknown } = {}
    cyclic.inner = cyclic
    expect(firstDifference({ inner: { inner: 1 } }, cyclic)).toBe('$.inner.inner: number against object')
  })
})
