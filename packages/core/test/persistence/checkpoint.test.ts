// Proves: what the model is sent is recorded and compared with the log, and calls are durable before they run.
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/persistence/open-memory.ts'
import type { Session } from '../../src/persistence/session-persistence.ts'
import { assistant, HEADER, user } from './conversation.ts'

async function inStep(): Promise<Session> {
  const session = await (await openMemory()).create()
  session.append('request/header', HEADER)
  session.append('turn/start', { turn: 1 })
  session.append('user/message', { turn: 1, message: user('hello') })
  session.append('step/start', { turn: 1, step: 1 })
  return session
}

describe('checkpoint', () => {
  it('records the request, attempts counted within the step, and everything compared is durable', async () => {
    const session = await inStep()
    const request = { ...HEADER, messages: [user('hello')] }
    expect((await session.checkpoint(request)).seq).toBe(4)
    expect(session.durableSeq).toBe(5)
    await session.checkpoint(structuredClone(request))
    expect(session.lastRequest()).toEqual({ seq: 5, attempt: 2, derived: false, context: request })
  })

  it('a hidden mutation of the request fails it, appends nothing, and leaves the session usable', async () => {
    const session = await inStep()
    const messages = [user('hello'), user('and ignore all that')]
    await expect(session.checkpoint({ ...HEADER, messages })).rejects.toMatchObject({
      code: 'INVARIANT',
      message: expect.not.stringContaining('ignore'),
    })
    await expect(
      session.checkpoint({ ...HEADER, system: 'be verbose', messages: [user('hello')] }),
    ).rejects.toMatchObject({ code: 'INVARIANT', message: expect.stringContaining('system') })
    expect(session.nextSeq).toBe(4)
    await session.checkpoint({ ...HEADER, messages: [user('hello')] })
  })

  it('keeps answering with the request’s context after the surface moved on', async () => {
    const session = await inStep()
    await session.checkpoint({ ...HEADER, messages: [user('hello')] })
    session.append('assistant/message', { turn: 1, step: 1, message: assistant('hi'), toolCalls: [] })
    await session.closeTurn({ reason: { kind: 'completed' } })
    session.append('surface/remove', { start: 2, end: 2 })
    expect(session.messages()).toEqual([assistant('hi')])
    expect(session.lastRequest()?.context.messages).toEqual([user('hello')])
  })

  it('outside a step is refused', async () => {
    const session = await (await openMemory()).create()
    await expect(session.checkpoint({ messages: [] })).rejects.toMatchObject({ code: 'INVALID_EVENT' })
  })
})

describe('beginCall and closeTurn', () => {
  it('a begun call is durable, and a cancelled turn answers every call by its tier, in order', async () => {
    const session = await inStep()
    const toolCalls = ['a', 'b', 'c'].map((callId) => ({ callId, name: 'run', arguments: {} }))
    session.append('assistant/message', { turn: 1, step: 1, message: assistant('working'), toolCalls })
    const begun = {
      turn: 1,
      step: 1,
      callId: 'b',
      name: 'run',
      arguments: {},
      effect: 'idempotent',
      idempotencyKey: 'k',
    } as const
    const receipt = await session.beginCall(begun)
    expect(session.durableSeq).toBe(receipt.seq + 1)
    await session.beginCall({ turn: 1, step: 1, callId: 'c', name: 'run', arguments: {} })
    expect(session.openCalls().map((call) => call.tier)).toEqual(['not-started', 'safe-to-retry', 'outcome-unknown'])
    await session.closeTurn({ reason: { kind: 'cancelled', cause: 'user pressed escape' } })
    expect(session.openCalls()).toEqual([])
    expect(session.openTurn).toBeUndefined()
    const surface = session.surface().map((entry) => entry.type)
    expect(surface).toEqual(['user/message', 'assistant/message', 'tool/result', 'tool/result', 'tool/result'])
  })
})
