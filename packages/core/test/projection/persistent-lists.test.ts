// Proves that the shared lists behave as arrays do, on every branch of a random history, and that old values stay.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppendList } from '../../src/projection/append-list.ts'
import { PersistentVector } from '../../src/projection/persistent-vector.ts'
import type { CallRecord } from '../../src/projection/step-calls.ts'
import { StepCalls } from '../../src/projection/step-calls.ts'
import { SCALE } from './proposals.ts'

/** Each step changes one of the values made so far, not only the newest. */
const history = fc.array(fc.record({ of: fc.nat(), at: fc.nat(), count: fc.nat(3), push: fc.boolean() }), {
  maxLength: 80,
  size: 'max',
})

const pick = <T>(all: readonly T[], index: number): T => all[index % all.length] as T

describe('AppendList', () => {
  it('equals an array on every branch', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const made: { list: AppendList<number>; array: number[] }[] = [{ list: AppendList.of(), array: [] }]
        steps.forEach(({ of, at, count, push }, value) => {
          const { list, array } = push ? pick(made, made.length - 1 - (of % 2)) : pick(made, of)
          const start = at % (array.length + 1)
          const end = Math.min(start + count, array.length)
          if (push) made.push({ list: list.push(value), array: [...array, value] })
          else
            made.push({ list: list.replaced(start, end, [value]), array: array.toSpliced(start, end - start, value) })
        })
        for (const { list, array } of made) {
          expect([...list]).toEqual(array)
          expect(list.slice()).toEqual(array)
          expect(list.map((one) => -one)).toEqual(array.map((one) => -one))
          expect(list.length).toBe(array.length)
          expect(list.at(array.length)).toBeUndefined()
          expect(list.at(0)).toBe(array[0])
          for (const value of [...array, -1]) expect(list.position((one) => one === value)).toBe(array.indexOf(value))
          for (const other of made) {
            const differs = array.findIndex((one, index) => one !== other.array[index])
            const common = differs < 0 ? array.length : differs
            expect(list.commonPrefix(other.list)).toBe(common)
            expect(list.prefix(common).slice()).toEqual(array.slice(0, common))
          }
        }
      }),
      { numRuns: 100 * SCALE, seed: 20_240_607 },
    )
  })

  it('shares storage along one history: 40,000 pushes copy nothing', () => {
    let list = AppendList.of<number>()
    let copies = 0
    const { slice } = Array.prototype
    Array.prototype.slice = function (this: unknown[], ...range: [number?, number?]): unknown[] {
      copies += 1
      return slice.apply(this, range)
    } as typeof slice
    try {
      for (let value = 0; value < 40_000; value += 1) list = list.push(value)
    } finally {
      Array.prototype.slice = slice
    }
    expect([list.length, list.at(39_999), copies]).toEqual([40_000, 39_999, 0])
  })
})

describe('PersistentVector', () => {
  it('equals an array on every branch, past several levels', () => {
    let base = PersistentVector.empty<number>()
    const start = Array.from({ length: 32 * 32 + 3 }, (_, index) => index)
    for (const value of start) base = base.push(value)
    fc.assert(
      fc.property(history, (steps) => {
        const made = [
          { vector: PersistentVector.empty<number>(), array: [] as number[] },
          { vector: base, array: start },
        ]
        steps.forEach(({ of, at, push }, value) => {
          const { vector, array } = pick(made, of)
          if (push || array.length === 0) made.push({ vector: vector.push(value), array: [...array, value] })
          else {
            const index = at % array.length
            made.push({ vector: vector.with(index, value), array: array.with(index, value) })
          }
        })
        for (const { vector, array } of made) {
          expect(vector.length).toBe(array.length)
          expect(array.every((value, index) => vector.get(index) === value)).toBe(true)
        }
      }),
      { numRuns: 50 * SCALE, seed: 20_240_608 },
    )
  })
})

describe('StepCalls', () => {
  const call = (callId: string, askedAt: number): CallRecord => ({ callId, name: 't', arguments: {}, askedAt })
  const answer = (calls: StepCalls, id: string): StepCalls => calls.update(id, (one) => ({ ...one, answered: true }))

  it('keeps two branches of one step apart', () => {
    const first = answer(StepCalls.none.ask([call('a', 1)]), 'a')
    const left = first.ask([call('b', 2), call('c', 2)])
    const right = first.ask([call('c', 3)])
    expect(first.get('b')).toBeUndefined()
    expect(right.get('b')).toBeUndefined()
    expect([left.get('c')?.askedAt, right.get('c')?.askedAt]).toEqual([2, 3])
    expect(answer(left, 'b').open()).toEqual([call('c', 2)])
    expect(left.open()).toEqual([call('b', 2), call('c', 2)])
    expect(StepCalls.none.all()).toEqual([])
  })

  it('does not know the many calls that only another branch asked for', () => {
    const ids = Array.from({ length: 100 }, (_, index) => `call-${index}`)
    const first = StepCalls.none.ask([call('a', 1)])
    const branch = answer(first, 'a').ask(ids.map((id) => call(id, 2)))
    expect([branch.get('call-99')?.askedAt, first.get('call-99'), first.get('a')?.askedAt]).toEqual([2, undefined, 1])
  })

  it('answers 20,000 calls of one answer in any order', () => {
    const ids = Array.from({ length: 20_000 }, (_, index) => `call-${index}`)
    let calls = StepCalls.none.ask(ids.map((id) => call(id, 7)))
    for (const id of ids.toReversed().slice(1)) calls = answer(calls, id)
    expect(calls.openCount).toBe(1)
    expect(calls.open()).toEqual([call('call-19999', 7)])
  })
})
