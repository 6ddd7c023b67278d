// Proves that a fold keeps the state that its log says, judges before it applies, and clones without ties.
import { describe, expect, it } from 'vitest'
import type { AnySessionEvent, Projection } from '../../src/index.ts'
import { LogFold } from '../../src/index.ts'
import { log } from './log.ts'

const CONVERSATION = log(
  ['request/header', { model: 'm-1', system: 'be brief' }],
  ['turn/start', { turn: 1 }],
  ['user/message', { turn: 1, message: { role: 'user', content: 'hello' } }],
  ['step/start', { turn: 1, step: 1 }],
  ['request/sent', { turn: 1, step: 1, attempt: 1 }],
  ['assistant/chunk', { turn: 1, step: 1, kind: 'text', index: 0, text: 'on it' }],
  [
    'assistant/message',
    {
      turn: 1,
      step: 1,
      message: { role: 'assistant', content: 'on it' },
      toolCalls: [{ callId: 'c1', name: 'read', arguments: { path: 'a' } }],
      usage: { inputTokens: 10, outputTokens: 3 },
    },
  ],
  ['tool/call', { turn: 1, step: 1, callId: 'c1', name: 'read', arguments: { path: 'a' }, effect: 'read-only' }],
  ['tool/result', { turn: 1, step: 1, callId: 'c1', message: { role: 'tool', content: 'text of a' } }],
  ['step/end', { turn: 1, step: 1 }],
  ['session/title', { title: 'Reading a' }],
  ['session/labels', { labels: { kind: 'demo', owner: 'x' } }],
  ['session/labels', { labels: { owner: 'y' } }],
  ['turn/end', { turn: 1, reason: { kind: 'completed' } }],
)

function folded(events: readonly AnySessionEvent[], projections: readonly Projection[] = []): LogFold {
  const fold = new LogFold(projections)
  for (const event of events) fold.accept(event)
  return fold
}

describe('LogFold', () => {
  it('derives messages, context, calls, usage and summary', () => {
    const fold = folded(CONVERSATION)
    expect(fold.nextSeq).toBe(14)
    expect(fold.lastEvent).toBe(CONVERSATION.at(-1))
    expect(fold.messages()).toEqual([
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'on it' },
      { role: 'tool', content: 'text of a' },
    ])
    expect(fold.surface().map((entry) => [entry.seq, entry.type])).toEqual([
      [2, 'user/message'],
      [6, 'assistant/message'],
      [8, 'tool/result'],
    ])
    expect(fold.modelContext()).toEqual({ model: 'm-1', system: 'be brief', messages: fold.messages() })
    expect(fold.lastRequest()).toEqual({
      seq: 4,
      attempt: 1,
      derived: false,
      context: { model: 'm-1', system: 'be brief', messages: [{ role: 'user', content: 'hello' }] },
    })
    expect(fold.usage()).toEqual({
      total: { inputTokens: 10, outputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
      answers: 1,
    })
    expect(fold.summary()).toEqual({
      title: 'Reading a',
      labels: { kind: 'demo', owner: 'y' },
      turns: 1,
      messages: 3,
    })
    expect(fold.openTurn).toBeUndefined()
    expect(fold.isStable).toBe(true)
  })

  it('derives the last request of a log without request/sent, just before the newest answer', () => {
    const answer = { message: 'a', toolCalls: [] }
    const fold = folded(
      log(
        ['user/message', { message: 'u1' }],
        ['assistant/message', answer],
        ['user/message', { message: 'u2' }],
        ['assistant/message', answer],
        ['assistant/message', { ...answer, message: 'again' }, { surface: { replace: [3, 3] } }],
      ),
    )
    expect(fold.lastRequest()).toEqual({ seq: 3, derived: true, context: { messages: ['u1', 'a', 'u2'] } })
    expect(fold.messages()).toEqual(['u1', 'a', 'u2', 'again'])
  })

  it('is stable only where neither a turn nor a call is open', () => {
    const ask = { message: 'm', toolCalls: [{ callId: 'a', name: 't', arguments: {} }] }
    expect(folded(log(['turn/start', { turn: 1 }])).isStable).toBe(false)
    expect(folded(log(['assistant/message', ask])).isStable).toBe(false)
    expect(folded(log(['assistant/message', ask], ['tool/result', { callId: 'a', message: 'r' }])).isStable).toBe(true)
  })

  it('counts no usage that is not a count, and none twice', () => {
    const answer = (usage: unknown): [string, unknown] => ['assistant/message', { message: 'm', toolCalls: [], usage }]
    const odd = [null, 'many', { inputTokens: '7' }, { inputTokens: -1 }, { inputTokens: 0.5 }, []]
    const fold = folded(log(...odd.map(answer), answer({ inputTokens: 2, reasoningTokens: 1 })))
    expect(fold.usage().total).toMatchObject({ inputTokens: 2, reasoningTokens: 1, outputTokens: 0 })
    const [type, data] = answer({ inputTokens: 5 })
    fold.accept({ seq: 7, time: 1, type, data, surface: { replace: [6, 6] } })
    expect(fold.usage()).toMatchObject({ total: { inputTokens: 2 }, answers: 7 })
  })

  it('keeps a label named __proto__ a label', () => {
    const labels = JSON.parse('{"__proto__":"x"}')
    const fold = folded(log(['session/labels', { labels }], ['session/labels', { labels: { a: 'b' } }]))
    expect(Object.entries(fold.summary().labels)).toEqual([
      ['__proto__', 'x'],
      ['a', 'b'],
    ])
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })

  it.each([
    [3, 'expected seq 2, found 3'],
    [1, 'expected seq 2, found 1'],
  ])('refuses seq %i after seq 1', (found, message) => {
    const fold = folded(CONVERSATION.slice(0, 2))
    const error = { code: 'CORRUPT', seq: 2, expected: 2, found, message }
    expect(() => fold.accept({ seq: found, time: 1, type: 'acme/a', data: {} })).toThrow(expect.objectContaining(error))
    expect(fold.nextSeq).toBe(2)
    expect(() => fold.acceptElided({ elided: 'assistant/chunk', seq: found, count: 1, turn: 1, step: 1 })).toThrow(
      expect.objectContaining(error),
    )
  })

  it('clones without ties: what one accepts, the other does not see', () => {
    const fold = folded(CONVERSATION.slice(0, 9))
    const before = fold.surface()
    const group = fold.clone()
    expect(group.lastEvent).toBe(fold.lastEvent)
    const next = log(
      ...Array(9).fill(['acme/a', {}]),
      ['step/end', { turn: 1, step: 1 }],
      ['user/message', { turn: 1, message: 'tried' }],
    ).slice(9)
    for (const event of next) group.accept(event)
    expect(fold.nextSeq).toBe(9)
    expect(fold.surface()).toEqual(before)
    expect(fold.openTurn).toEqual({ turn: 1, step: 1 })
    for (const event of CONVERSATION.slice(9)) fold.accept(event)
    expect(fold.messages()).toHaveLength(3)
    expect(group.messages().at(-1)).toBe('tried')
  })
})
