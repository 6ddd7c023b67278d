// Proves that what `losslessCopy` accepts comes back from JSON exactly, that it is frozen and cut off from the caller,
// and that everything JSON would lose is refused with its place.

import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSessionError, type SessionError } from '../../src/errors.ts'
import { losslessCopy } from '../../src/event/lossless-json.ts'
import { LIMITS } from '../../src/limits.ts'
import { losslessJson, scale } from './arbitraries.ts'

function refusal(value: unknown, path?: string): SessionError {
  try {
    losslessCopy(value, path)
  } catch (error) {
    if (isSessionError(error)) return error
    throw error
  }
  throw new Error('accepted')
}

function nested(depth: number, leaf: unknown = 1): unknown {
  let value = leaf
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

function allFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && Object.values(value).every(allFrozen)
}

describe('accepted', () => {
  it('any JSON value, equal down to key order, frozen, sharing nothing, with a size that bounds the true one', () => {
    fc.assert(
      fc.property(losslessJson(), (value) => {
        const { value: copy, size } = losslessCopy(value)
        const json = JSON.stringify(value)
        expect(JSON.stringify(copy)).toBe(json)
        expect(JSON.stringify(JSON.parse(JSON.stringify(copy)))).toBe(json)
        expect(JSON.parse(JSON.stringify(copy))).toEqual(copy)
        expect(allFrozen(copy)).toBe(true)
        if (typeof value === 'object' && value !== null) expect(copy).not.toBe(value)
        const bytes = Buffer.byteLength(json)
        expect(size).toBeLessThanOrEqual(bytes)
        expect(bytes).toBeLessThanOrEqual(6 * size)
      }),
      { numRuns: 1000 * scale },
    )
  })

  it.each([
    ['a lone surrogate', '\ud83d'],
    ['U+0000', 'a\0b'],
    ['line separators', '\u2028\u2029\u0085'],
    ['2^53', 2 ** 53],
    ['the largest double', Number.MAX_VALUE],
    ['the smallest double', Number.MIN_VALUE],
    ['the double with the longest text', -Math.PI / 1e6],
    ['the 32-bit borders', [2147483647, 2147483648, -2147483648, -2147483649]],
    ['empty containers', [{}, []]],
    ['an empty key', { '': 1 }],
    ['numeric keys', { b: 1, 2: 1, 1: 1 }],
  ])('%s', (_, value) => {
    const { value: copy, size } = losslessCopy(value)
    expect(JSON.parse(JSON.stringify(copy))).toEqual(value)
    expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
    expect(Buffer.byteLength(JSON.stringify(copy))).toBeLessThanOrEqual(6 * size)
  })

  it('any number, with a size that bounds the length of its text', () => {
    const decimals = fc.tuple(fc.integer(), fc.constantFrom(10, 1e2, 1e3, 1e4, 1e7)).map(([digits, by]) => digits / by)
    fc.assert(
      fc.property(
        fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), decimals, fc.maxSafeInteger()),
        (value) => {
          if (Object.is(value, -0)) return
          const { size } = losslessCopy(value)
          const { length } = JSON.stringify(value)
          expect(size).toBeLessThanOrEqual(length)
          expect(length).toBeLessThanOrEqual(6 * size)
        },
      ),
      {
        numRuns: 5000 * scale,
        examples: [0.1, 1e-7, -1.2345678901234567e-6, 1e21, -1e21, 2 ** 53, 5e-324].map((n) => [n]),
      },
    )
  })

  it('an own __proto__ key, as a property and not as the prototype', () => {
    const value: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"toJSON":"x"}')
    const copy = losslessCopy(value).value as object
    expect(Object.keys(copy)).toEqual(['__proto__', 'constructor', 'toJSON'])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect('polluted' in copy).toBe(false)
    expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
  })

  it('objects without a prototype, and frozen ones', () => {
    const bare: { a?: number } = Object.create(null)
    bare.a = 1
    expect(losslessCopy(bare).value).toEqual({ a: 1 })
    expect(losslessCopy(Object.freeze({ a: Object.freeze([1]) })).value).toEqual({ a: [1] })
  })

  it('plain objects and arrays of another realm', () => {
    const foreign: unknown = runInNewContext('({ a: [1, { b: "x" }] })')
    expect(losslessCopy(foreign).value).toEqual({ a: [1, { b: 'x' }] })
  })

  it('the same part in several places', () => {
    const part = { a: 1 }
    expect(losslessCopy({ x: part, y: [part, part] }).value).toEqual({ x: part, y: [part, part] })
  })

  it('is not changed by what the caller does to the original later', () => {
    const value = { list: [1], text: 'before' }
    const { value: copy } = losslessCopy(value)
    value.list.push(2)
    value.text = 'after'
    expect(copy).toEqual({ list: [1], text: 'before' })
  })

  it('shares large values that it made before, with their size and depth', () => {
    const first = losslessCopy({ message: { text: 'x'.repeat(5000), deep: nested(500) } })
    const again = losslessCopy({ other: first.value })
    expect((again.value as { other: unknown }).other).toBe(first.value)
    expect(again.size).toBe(first.size + '{"other":}'.length)
    expect(refusal(nested(11, first.value)).code).toBe('TOO_LARGE')
    expect(losslessCopy(nested(10, first.value)).size).toBeGreaterThan(first.size)
    const shallowAfterDeep = losslessCopy({ deep: nested(500), text: 'x'.repeat(5000), shallow: [1] })
    expect(refusal(nested(12, shallowAfterDeep.value)).code).toBe('TOO_LARGE')
  })
})

describe('refused with INVALID_EVENT and the place', () => {
  class Point {
    readonly x: number = 1
  }
  const cyclic: { self?: unknown; list: unknown[] } = { list: [] }
  cyclic.list.push({ cyclic })
  const sparse = [1, 2, 3]
  delete sparse[1]
  const extra = Object.assign([1], { note: 'x' })
  const accessor = {
    get secret() {
      throw new Error('must not run')
    },
  }
  const setter = Object.defineProperty({}, 'x', { set() {}, enumerable: true })
  const hidden = Object.defineProperty({}, 'x', { value: 1 })

  it.each<[string, unknown, string, string]>([
    ['undefined', undefined, '$', 'undefined'],
    ['undefined in an object', { a: { b: undefined } }, '$.a.b', 'undefined'],
    ['undefined in an array', [1, [undefined]], '$[1][0]', 'undefined'],
    ['a function', { f: () => 1 }, '$.f', 'function'],
    ['toJSON', { toJSON: () => 1 }, '$.toJSON', 'function'],
    ['a symbol', [Symbol('s')], '$[0]', 'symbol'],
    ['a symbol key', { a: { [Symbol('s')]: 1 } }, '$.a', 'symbol key'],
    ['a symbol key of an array', Object.assign([1], { [Symbol('s')]: 1 }), '$', 'symbol key'],
    ['a BigInt', { n: 1n }, '$.n', 'BigInt'],
    ['NaN', { n: Number.NaN }, '$.n', 'NaN'],
    ['Infinity', [Number.POSITIVE_INFINITY], '$[0]', 'Infinity'],
    ['-Infinity', [Number.NEGATIVE_INFINITY], '$[0]', '-Infinity'],
    ['-0', { n: -0 }, '$.n', '-0'],
    ['a cycle', cyclic, '$.list[0].cyclic', 'cycle'],
    ['a hole', { sparse }, '$.sparse[1]', 'hole'],
    ['an array of holes', new Array(4_000_000_000), '$[0]', 'hole'],
    ['an extra property of an array', extra, '$.note', 'extra property'],
    ['a Date', { at: new Date(0) }, '$.at', 'neither plain'],
    ['a Map', new Map(), '$', 'neither plain'],
    ['a Buffer', { b: Buffer.from('x') }, '$.b', 'neither plain'],
    ['a class instance', new Point(), '$', 'neither plain'],
    ['an array subclass', new (class extends Array {})(), '$', 'neither plain'],
    ['a foreign Date', runInNewContext('new Date(0)'), '$', 'neither plain'],
    ['a foreign class named Object', runInNewContext('new (class Object {})()'), '$', 'neither plain'],
    ['an object that inherits', Object.create({ a: 1 }), '$', 'neither plain'],
    ['boxed values', Object('x'), '$', 'neither plain'],
    ['an accessor, without running it', accessor, '$.secret', 'accessor'],
    ['a setter', setter, '$.x', 'accessor'],
    ['a non-enumerable property', hidden, '$.x', 'non-enumerable'],
    ['something under an odd key', { 'a b': { '1': Number.NaN } }, '$["a b"]["1"]', 'NaN'],
  ])('%s', (_, value, path, what) => {
    const error = refusal(value)
    expect(error.code).toBe('INVALID_EVENT')
    expect(error.path).toBe(path)
    expect(error.message).toContain(what)
  })

  it('starting at the path given', () => {
    expect(refusal({ a: undefined }, '$.data').path).toBe('$.data.a')
  })

  it('without showing what the value holds', () => {
    const key = `secret ${'k'.repeat(500)}`
    const error = refusal({ text: 'a secret text', [key]: undefined })
    expect(error.message).not.toContain('a secret text')
    expect(error.message.length).toBeLessThan(200)
  })

  it('a cycle longer than the depth limit, as too deep', () => {
    const ring: { next?: unknown } = {}
    let last = ring
    for (let at = 0; at < LIMITS.depth + 10; at++) {
      const next = {}
      last.next = next
      last = next
    }
    last.next = ring
    expect(refusal(ring).code).toBe('TOO_LARGE')
  })

  it('a proxy whose trap throws, and leaves the next value as it was', () => {
    const trapped = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('trap')
        },
      },
    )
    expect(refusal({ a: 'text', trapped }).code).toBe('INVALID_EVENT')
    expect(losslessCopy('abc').size).toBe(5)
  })

  it('nothing of a proxy whose trap copies something else meanwhile', () => {
    const proxy = new Proxy(
      { a: 1 },
      {
        getPrototypeOf(target) {
          losslessCopy({ other: 'x'.repeat(5000), deep: nested(100) })
          return Reflect.getPrototypeOf(target)
        },
      },
    )
    expect(losslessCopy(['text', proxy])).toEqual({ value: ['text', { a: 1 }], size: '["text",{"a":1}]'.length })
  })

  it('in one pass over shared parts, however often they are shared', () => {
    let shared: unknown = [1]
    for (let level = 0; level < 200; level++) shared = [shared, shared]
    expect(refusal([shared, Number.NaN]).code).toMatch(/INVALID_EVENT|TOO_LARGE/)
  })
})

describe('refused with TOO_LARGE and the limit', () => {
  it('nesting: the limit itself is accepted, one more is not', () => {
    expect(losslessCopy(nested(LIMITS.depth)).value).toEqual(nested(LIMITS.depth))
    const error = refusal(nested(LIMITS.depth + 1))
    expect(error.code).toBe('TOO_LARGE')
    expect(error.expected).toBe(LIMITS.depth)
    expect(error.message).toContain('depth')
  })

  it('nesting of a part that is shared, once shallow and once too deep', () => {
    const part = nested(10)
    const error = refusal([part, nested(LIMITS.depth - 10, part)])
    expect(error.message).toContain('depth')
    expect(losslessCopy([part, nested(LIMITS.depth - 11, part)]).value).toHaveLength(2)
  })

  it('size: a text that cannot fit is refused; the longest that may is left to the exact check', () => {
    const fits = 'x'.repeat(LIMITS.eventBytes - 2)
    expect(losslessCopy(fits).size).toBe(LIMITS.eventBytes)
    const error = refusal({ text: fits })
    expect(error.code).toBe('TOO_LARGE')
    expect(error.expected).toBe(LIMITS.eventBytes)
    expect(error.message).toContain('eventBytes')
  })
})
