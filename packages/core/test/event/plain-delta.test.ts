// Proves that the short way for stream deltas gives exactly what the general one gives, or leaves the value to it.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { validateCoreEvent } from '../../src/event/core-event.ts'
import type { Json } from '../../src/event/event.ts'
import { losslessCopy } from '../../src/event/lossless-json.ts'
import { plainDelta, plainDeltaSize } from '../../src/event/plain-delta.ts'
import { scale } from './arbitraries.ts'

const text = { turn: 1, step: 2, kind: 'text', index: 0, text: 'a\ud83d\u2028' }
const call = { turn: 1, step: 2, kind: 'tool-arguments', index: 3, callId: 'c', name: 'n', text: '{' }
const { name: _, ...unnamed } = call

function generalCopy(value: unknown): Json | undefined {
  try {
    const copy = losslessCopy(value).value
    validateCoreEvent('assistant/chunk', copy)
    return copy
  } catch {
    return undefined
  }
}

const count = fc.oneof(fc.nat(3), fc.constantFrom<unknown>(-0, -1, 1.5, Number.NaN, 2 ** 53, '1', null, undefined))
const string = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom<unknown>(1, null, undefined, Symbol('s')))
const field = {
  turn: count,
  step: count,
  kind: fc.constantFrom('text', 'reasoning', 'tool-arguments', 'other', 7),
  index: count,
  callId: string,
  name: string,
  text: string,
  extra: fc.constant(1),
}
const chunk = fc
  .record(field, { requiredKeys: ['turn', 'step', 'kind', 'index', 'text'] })
  .chain((value) => fc.shuffledSubarray(Object.keys(value), { minLength: 4 }).map((keys) => ({ value, keys })))
  .map(({ value, keys }) => Object.fromEntries(keys.map((key) => [key, value[key as keyof typeof value]])))

describe('plainDelta', () => {
  it.each([text, { ...text, kind: 'reasoning' }, call, unnamed])('takes a delta: %o', (value) => {
    const copy = plainDelta(value)
    expect(copy).toEqual(value)
    expect(copy).not.toBe(value)
    expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
    expect(Object.isFrozen(copy)).toBe(true)
  })

  it.each<[string, unknown]>([
    ['another key', { ...text, more: 1 }],
    ['a key too few', { turn: 1, step: 2, kind: 'text', index: 0 }],
    ['another order', { step: 2, turn: 1, kind: 'text', index: 0, text: '' }],
    ['a call id on text', { ...call, kind: 'text' }],
    ['-0', { ...text, index: -0 }],
    ['turn 0', { ...text, turn: 0 }],
    ['an unsafe integer', { ...text, step: 2 ** 53 }],
    ['a boxed text', { ...text, text: Object('x') }],
    ['a symbol key', { ...text, [Symbol('s')]: 1 }],
    ['a hidden property', Object.defineProperty({ ...text }, 'text', { enumerable: false })],
    ['an accessor', { turn: 1, step: 2, kind: 'text', index: 0, get text(): string { throw new Error('must not run') } }], // biome-ignore format: one line a case
    ['an instance', Object.assign(new (class Delta {})(), text)],
    ['an array', Object.assign([], text)],
    ['null', null],
    ['a text', 'text'],
    ['a proxy that throws', new Proxy(text, { ownKeys: () => { throw new Error('trap') } })], // biome-ignore format: one line a case
  ])('leaves alone %s', (_name, value) => {
    expect(plainDelta(value)).toBeUndefined()
  })

  it('takes nothing that the general way refuses, and copies it to the same JSON', () => {
    let taken = 0
    fc.assert(
      fc.property(chunk, (value) => {
        const copy = plainDelta(value)
        if (copy === undefined) return
        taken++
        expect(JSON.stringify(copy)).toBe(JSON.stringify(generalCopy(value)))
      }),
      { numRuns: 3000 * scale, examples: [[text], [call], [unnamed]] },
    )
    expect(taken).toBeGreaterThanOrEqual(3)
  })

  it('tells a size that bounds the true one', () => {
    const most = Number.MAX_SAFE_INTEGER
    for (const value of [
      { ...text, text: '' },
      { ...call, text: '', callId: '', name: '' },
      { ...call, turn: most, step: most, index: most, callId: '\0'.repeat(99), name: '\ud83d'.repeat(99) },
      { ...unnamed, text: '\0'.repeat(999) },
    ]) {
      const delta = plainDelta(value)
      if (delta === undefined) throw new Error('not taken')
      const bytes = Buffer.byteLength(JSON.stringify(value))
      expect(plainDeltaSize(delta)).toBeLessThanOrEqual(bytes)
      expect(bytes).toBeLessThanOrEqual(6 * plainDeltaSize(delta))
    }
  })
})
