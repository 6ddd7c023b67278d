// Proves what a projection given at open gets: every event but the chunks, and these only when it asks for them.
import { describe, expect, it } from 'vitest'
import type { AnySessionEvent } from '../../src/event/event.ts'
import { LogFold } from '../../src/projection/log-fold.ts'
import type { Projection } from '../../src/projection/projection.ts'
import { surfaceProjection } from '../../src/projection/surface.ts'
import { turnsProjection } from '../../src/projection/turns.ts'
import { log } from './log.ts'

const place = { turn: 1, step: 1 }
const IN_STEP = log(['turn/start', { turn: 1 }], ['step/start', place])
const chunk = (seq: number): AnySessionEvent => ({
  seq,
  time: 5,
  type: 'assistant/chunk',
  data: { ...place, kind: 'text', index: 0, text: 'x' },
})
const elided = (count: number, step = 1) => ({ elided: 'assistant/chunk' as const, seq: 2, count, turn: 1, step })

const types: Projection<readonly string[]> = {
  name: 'types',
  version: 1,
  initial: () => [],
  apply: (state, event) => [...state, event.type],
}
const typesAndChunks: Projection<readonly string[]> = { ...types, name: 'types and chunks', chunks: true }

function folded(events: readonly AnySessionEvent[], projections: readonly Projection[]): LogFold {
  const fold = new LogFold(projections)
  for (const event of events) fold.accept(event)
  return fold
}

describe('a given projection', () => {
  it('gets every event, and chunks only when it asks for them', () => {
    const events = [...IN_STEP, chunk(2), { seq: 3, time: 1, type: 'acme/a', data: null }]
    const fold = folded(events, [types, typesAndChunks])
    expect(fold.needsChunks).toBe(true)
    expect(fold.state(types)).toEqual(['turn/start', 'step/start', 'acme/a'])
    expect(fold.state(typesAndChunks)).toEqual(['turn/start', 'step/start', 'assistant/chunk', 'acme/a'])
  })

  it('is found by name, beside the core ones; another is not supported', () => {
    const fold = folded(IN_STEP, [types])
    expect(fold.state({ ...types })).toBe(fold.state(types))
    expect(fold.state(turnsProjection).openStep).toBe(1)
    expect(fold.state(surfaceProjection).length).toBe(0)
    expect(() => fold.state(typesAndChunks)).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }))
  })

  it('changes nothing anywhere when it throws', () => {
    const failing: Projection<number> = {
      name: 'failing',
      version: 1,
      initial: () => 0,
      apply(state, event) {
        if (event.type === 'acme/bad') throw new TypeError('no')
        return state + 1
      },
    }
    const fold = folded(IN_STEP, [types, failing])
    const { content } = fold
    const cause = expect.any(TypeError)
    const error = expect.objectContaining({ code: 'INVALID_ARGUMENT', seq: 2, cause })
    expect(() => fold.accept({ seq: 2, time: 1, type: 'acme/bad', data: {} })).toThrow(error)
    expect(fold.content).toEqual(content)
    fold.accept({ seq: 2, time: 1, type: 'acme/good', data: {} })
    expect(fold.state(failing)).toBe(3)
    expect(fold.state(types)).toEqual(['turn/start', 'step/start', 'acme/good'])
  })

  it.each<[string, unknown]>([
    ['no object', null],
    ['no name', { ...types, name: '' }],
    ['no version', { ...types, version: undefined }],
    ['a version between two', { ...types, version: 1.5 }],
    ['no initial', { ...types, initial: undefined }],
    ['no apply', { ...types, apply: 'x' }],
    ['a save that is none', { ...types, save: true }],
    ['chunks that is no boolean', { ...types, chunks: 'yes' }],
    ['the name of a core one', { ...types, name: 'surface' }],
  ])('is refused with %s', (_, projection) => {
    const open = (): LogFold => new LogFold([projection as Projection])
    expect(open).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })

  it('is refused when its name is taken', () => {
    expect(() => new LogFold([types, { ...types }])).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })
})

describe('chunks that nobody needs', () => {
  it('touch no state but the position', () => {
    const fold = folded(IN_STEP, [types])
    const { core, given } = fold.content
    for (let seq = 2; seq < 1_000; seq += 1) fold.accept(chunk(seq))
    expect(fold.content.core).toBe(core)
    expect(fold.content.given).toBe(given)
    expect([fold.nextSeq, fold.lastTime, fold.lastEvent]).toEqual([1_000, 5, chunk(999)])
  })

  it('may be elided: a million at the cost of one', () => {
    const fold = folded(IN_STEP, [types])
    fold.acceptElided(elided(1_000_000))
    expect([fold.nextSeq, fold.lastTime, fold.lastEvent]).toEqual([1_000_002, undefined, undefined])
    fold.accept({ seq: 1_000_002, time: 9, type: 'step/end', data: place })
    expect(fold.lastTime).toBe(9)
  })

  it('may not be elided where a projection needs them, where they do not belong, or where there are none', () => {
    const invariant = expect.objectContaining({ code: 'INVARIANT' })
    expect(() => folded(IN_STEP, [typesAndChunks]).acceptElided(elided(3))).toThrow(invariant)
    expect(() => folded(IN_STEP, []).acceptElided(elided(0))).toThrow(invariant)
    const misplaced = expect.objectContaining({ code: 'INVALID_EVENT', seq: 2 })
    expect(() => folded(IN_STEP, []).acceptElided(elided(3, 2))).toThrow(misplaced)
    const outside = folded([...IN_STEP.slice(0, 1), { seq: 1, time: 1, type: 'acme/a', data: 0 }], [])
    expect(() => outside.acceptElided(elided(3))).toThrow(misplaced)
    expect(outside.nextSeq).toBe(2)
  })
})
