// The history of a failure is short whatever was done, shows outcomes, and changes nothing of what it watches.
import { openMemory } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { escapedRejections } from '../src/escaped-rejections.ts'
import { OperationHistory, recorded } from '../src/operation-history.ts'
import { sentenceOf, shortValue } from '../src/short-value.ts'
import { collect } from '../src/stored-events.ts'

describe('the history of operations', () => {
  it('shows calls with their outcomes, runs of appends as one', async () => {
    const history = new OperationHistory()
    const persistence = recorded(await openMemory(), history)
    const session = await persistence.create({ id: 's' })
    for (let turn = 1; turn <= 3; turn += 1) session.append('user/message', { message: `m${turn}` })
    expect(() => session.append('turn/end', { turn: 1, reason: { kind: 'completed' } })).toThrow()
    await session.flush()
    await collect(persistence.read('s', { from: 1 }))
    await persistence.resume('s').catch(() => {})
    await persistence.list()
    expect(history.lines()).toEqual([
      'p1 = open()',
      'p1.create({ id: "s" }) -> a session',
      'p1/"s": 3 appends, user/message to user/message',
      'p1/"s".append("turn/end") -> threw SessionError INVALID_EVENT',
      expect.stringMatching(/^p1\/"s"\.flush\(\) -> \{ seq: 2, crc: "[0-9a-f]{8}" \}$/),
      'p1.read("s", { from: 1 }) -> 2 events',
      'p1.resume("s") -> rejected with SessionError LOCKED',
      'p1.list() -> 1 sessions',
    ])
  })

  it('keeps the last operations and counts the others', async () => {
    const history = new OperationHistory()
    const persistence = recorded(await openMemory(), history)
    for (let count = 0; count < 100; count += 1) await persistence.list()
    const lines = history.lines()
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([
      26,
      '(76 operations before these)',
      'p1.list() -> 0 sessions',
    ])
  })

  it('leaves a rejection that nobody handles unhandled', async () => {
    const history = new OperationHistory()
    const escaped = await escapedRejections(async () => {
      void history.call('doomed', () => Promise.reject(new Error('alone')))
    })
    expect(escaped).toEqual(['alone'])
  })
})

describe('a short value', () => {
  it('is short whatever its size, and costs no more', () => {
    const deep: unknown[] = []
    let inner = deep
    for (let depth = 0; depth < 100_000; depth += 1) {
      const next: unknown[] = []
      inner.push(next)
      inner = next
    }
    const values = [
      'x'.repeat(1e7),
      Array(1e6).fill('x'),
      deep,
      { a: { b: { c: { d: { e: 1 } } } } },
      10n,
      Symbol.iterator,
    ]
    for (const value of values) expect(shortValue(value).length).toBeLessThan(400)
    expect(shortValue({ id: 's', list: [1, -0], none: undefined })).toBe('{ id: "s", list: [1, -0], none: undefined }')
  })

  it('of an error is one sentence without a stack', () => {
    const error = new Error('the first line\n    at somewhere (else.js:1:1)')
    expect(sentenceOf(error)).toBe('the first line')
    expect(sentenceOf(undefined)).toBe('undefined')
    expect(sentenceOf(new Error(''))).toBe('an error without a message')
  })
})
