// Proves that a header is exact: what it must hold, what it may hold, and nothing else.
import { describe, expect, it } from 'vitest'
import { checkHeader } from '../../src/event/header.ts'
import { LIMITS } from '../../src/limits.ts'

const minimal = { version: 1, id: 'a', createdAt: 0, messageFormat: 'plain' }
const complete = {
  ...minimal,
  cwd: '/work',
  parent: 'p',
  seedLength: 3,
  origin: 'fork',
  labels: { kind: 'test', empty: '' },
}

describe('checkHeader', () => {
  it('accepts the least and the most, frozen, as a copy', () => {
    expect(checkHeader(minimal)).toEqual(minimal)
    const header = checkHeader(complete)
    expect(header).toEqual(complete)
    expect(header).not.toBe(complete)
    expect(Object.isFrozen(header)).toBe(true)
    expect(Object.isFrozen(header.labels)).toBe(true)
  })

  it('gives equal JSON for every key order', () => {
    const reversed = Object.fromEntries(Object.entries(complete).reverse())
    expect(JSON.stringify(checkHeader(reversed))).toBe(JSON.stringify(checkHeader(complete)))
    expect(Object.keys(checkHeader(reversed))).toEqual(Object.keys(complete))
  })

  it('takes undefined for absent', () => {
    expect(checkHeader({ ...minimal, cwd: undefined, labels: undefined })).toEqual(minimal)
    expect('cwd' in checkHeader({ ...minimal, cwd: undefined })).toBe(false)
  })

  it('keeps a label named __proto__', () => {
    const labels: unknown = JSON.parse('{"__proto__":"x"}')
    const header = checkHeader({ ...minimal, labels })
    expect(JSON.stringify(header.labels)).toBe('{"__proto__":"x"}')
  })

  it.each([
    ['version', -1],
    ['version', 1.5],
    ['version', '1'],
    ['id', ''],
    ['id', '\ud800'],
    ['id', undefined],
    ['createdAt', Number.NaN],
    ['createdAt', 2 ** 53],
    ['messageFormat', ''],
    ['messageFormat', undefined],
    ['cwd', ''],
    ['cwd', null],
    ['parent', ''],
    ['seedLength', -1],
    ['origin', 1],
    ['labels', []],
    ['labels', { a: 1 }],
    ['labels', null],
  ])('refuses %s: %j and names it', (key, value) => {
    const error = expect.objectContaining({ code: 'INVALID_ARGUMENT', path: `$.${key}` })
    expect(() => checkHeader({ ...complete, [key]: value })).toThrow(error)
  })

  it.each([[null], [[]], ['x'], [undefined]])('refuses %j', (value) => {
    expect(() => checkHeader(value)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })

  it('refuses unknown keys without naming them, and uses the code asked for', () => {
    const value = { ...minimal, 'a secret': 1 }
    expect(() => checkHeader(value, 'CORRUPT')).toThrow(expect.objectContaining({ code: 'CORRUPT' }))
    expect(() => checkHeader(value)).not.toThrow(/secret/)
    expect(() => checkHeader(JSON.parse('{"__proto__":1}'))).toThrow()
  })

  it('accepts the size limit itself and refuses one byte more', () => {
    const withCwd = (length: number): object => ({ ...minimal, cwd: 'x'.repeat(length) })
    const room = LIMITS.headerBytes - JSON.stringify(withCwd(0)).length
    expect(checkHeader(withCwd(room)).cwd).toHaveLength(room)
    const tooLarge = expect.objectContaining({ code: 'TOO_LARGE', expected: LIMITS.headerBytes })
    expect(() => checkHeader(withCwd(room + 1))).toThrow(tooLarge)
    expect(() => checkHeader({ ...minimal, cwd: '会'.repeat(room / 3 + 1) })).toThrow(tooLarge)
  })
})
