// A failure shows where two values differ first, in a small window.
import { describe, expect, it } from 'vitest'
import { firstDifference, show } from '../src/first-difference.ts'

describe('firstDifference', () => {
  it('is undefined for equal JSON values', () => {
    expect(firstDifference({ a: [1, { b: null }] }, { a: [1, { b: null }] })).toBeUndefined()
  })

  it('names the path of the first difference, in depth', () => {
    expect(firstDifference([{ a: [1, 2] }], [{ a: [1, 3] }])).toEqual({ path: '$[0].a[1]', expected: '3', found: '2' })
    expect(firstDifference([1], [1, 2])).toEqual({ path: '$.length', expected: '2', found: '1' })
    expect(firstDifference({ a: -0 }, { a: 0 })).toEqual({ path: '$.a', expected: '0', found: '-0' })
  })

  it('counts key order unless told otherwise', () => {
    expect(firstDifference({ a: 1, b: 2 }, { b: 2, a: 1 })?.path).toBe('$')
    expect(firstDifference({ a: 1, b: 2 }, { b: 2, a: 1 }, { ignoreKeyOrder: true })).toBeUndefined()
    expect(firstDifference({ a: 1 }, { a: 1, b: undefined }, { ignoreKeyOrder: true })?.path).toBe('$')
  })

  it('shows long values short', () => {
    expect(show('x'.repeat(500))).toBe(`"${'x'.repeat(119)}... (502 characters)`)
  })
})
