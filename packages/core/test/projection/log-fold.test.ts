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
})
