// Proves: what a crash leaves is closed once, by the one writer, and a resume that refuses has written nothing.
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/persistence/open-memory.ts'
import type { SessionPersistence } from '../../src/persistence/session-persistence.ts'
import { createMemoryMedium, type MemoryMedium } from '../../src/storage/memory-medium.ts'
import { assistant, collect, completeTurn, HEADER, tool, turnUpToCall, user } from './conversation.ts'

const ID = 'crashed'

/** A medium on which a writer died after `write`: what it flushed is stored, its lock is gone. */
async function crashed(write: (persistence: SessionPersistence) => Promise<void>): Promise<MemoryMedium> {
  const medium = createMemoryMedium()
  await write(await openMemory({ medium }))
  medium.locks.clear()
  return medium
}

const afterResult = (): Promise<MemoryMedium> =>
  crashed(async (persistence) => {
    const session = await persistence.create({ id: ID })
    turnUpToCall(session)
    session.append('tool/result', { turn: 1, step: 1, callId: 'c1', message: tool('42 lines') })
    await session.flush()
  })

const beforeResult = (): Promise<MemoryMedium> =>
  crashed(async (persistence) => {
    const session = await persistence.create({ id: ID })
    turnUpToCall(session)
    await session.flush()
  })

const types = async (medium: MemoryMedium): Promise<string[]> => {
  const persistence = await openMemory({ medium })
  return (await collect(persistence.read(ID))).map((event) => event.type)
}

describe('interrupted after a result', () => {
  it('closes the step and the turn as interrupted, with the time of the last real event', async () => {
    const medium = await afterResult()
    const session = await (await openMemory({ medium })).resume(ID)
    expect(session.recovery?.survived).toBe(7)
    expect(session.recovery?.closed).toMatchObject([
      { seq: 7, type: 'step/end', data: { turn: 1, step: 1 } },
      { seq: 8, type: 'turn/end', data: { turn: 1, reason: { kind: 'interrupted' } } },
    ])
    const [last] = await collect(session.read({ from: 6, to: 6 }))
    expect(session.recovery?.closed.map((event) => event.time)).toEqual([last?.time, last?.time])
    expect(session.messages()).toEqual([user('how many lines?'), assistant('let me look'), tool('42 lines')])
    expect(session.modelContext()).toEqual({ ...HEADER, messages: session.messages() })
    completeTurn(session, 2, 'and b.txt?', 'seven')
    await session.close()
    const again = await (await openMemory({ medium })).resume(ID)
    expect(again.recovery?.closed).toEqual([])
    expect((await types(medium)).slice(9)).toEqual([
      'session/resumed',
      'turn/start',
      'user/message',
      'step/start',
      'assistant/message',
      'step/end',
      'turn/end',
    ])
    await again.close()
    expect((await types(medium)).length).toBe(16)
  })

  it('with openTurn keep adds nothing and can go on', async () => {
    const medium = await afterResult()
    const session = await (await openMemory({ medium })).resume(ID, { openTurn: 'keep' })
    expect(session.recovery?.closed).toEqual([])
    expect(session.openTurn).toEqual({ turn: 1, step: 1 })
    expect((await types(medium)).length).toBe(7)
    session.append('assistant/message', { turn: 1, step: 1, message: assistant('42'), toolCalls: [] })
    await session.closeTurn({ reason: { kind: 'completed' } })
    expect((await types(medium)).slice(7)).toEqual(['session/resumed', 'assistant/message', 'step/end', 'turn/end'])
  })
})

describe('interrupted before a result', () => {
  it('answers the begun call as outcome-unknown, before the step and turn end', async () => {
    const medium = await beforeResult()
    const session = await (await openMemory({ medium })).resume(ID)
    expect(session.recovery?.openCalls).toMatchObject([{ callId: 'c1', tier: 'outcome-unknown', begunAt: 5 }])
    expect(session.recovery?.closed).toMatchObject([
      { type: 'tool/result', data: { callId: 'c1', synthetic: { tier: 'outcome-unknown' } } },
      { type: 'step/end' },
      { type: 'turn/end' },
    ])
  })

  it('takes the real result that reconcile brings', async () => {
    const medium = await beforeResult()
    const asked: string[] = []
    const session = await (await openMemory({ medium })).resume(ID, {
      reconcile: async (call) => {
        asked.push(call.callId)
        return { message: tool('42 lines') }
      },
    })
    expect(asked).toEqual(['c1'])
    expect(session.recovery?.closed[0]).toMatchObject({ type: 'tool/result', data: { message: tool('42 lines') } })
    expect(session.recovery?.closed[0]?.data).not.toHaveProperty('synthetic')
  })

  it('a reconcile that throws aborts with nothing written and the lock free', async () => {
    const medium = await beforeResult()
    const persistence = await openMemory({ medium })
    const refusal = new Error('the service is away')
    await expect(
      persistence.resume(ID, {
        reconcile: async () => {
          throw refusal
        },
      }),
    ).rejects.toBe(refusal)
    expect((await types(medium)).length).toBe(6)
    const session = await persistence.resume(ID)
    expect(session.nextSeq).toBe(9)
  })

  it('keeps the text of an unfinished answer, of the newest request only', async () => {
    const medium = await crashed(async (persistence) => {
      const session = await persistence.create({ id: ID })
      session.append('request/header', HEADER)
      session.append('turn/start', { turn: 1 })
      session.append('user/message', { turn: 1, message: user('tell me') })
      session.append('step/start', { turn: 1, step: 1 })
      const request = { ...HEADER, messages: [user('tell me')] }
      await session.checkpoint(request)
      session.append('assistant/chunk', { turn: 1, step: 1, kind: 'text', index: 0, text: 'first try' })
      await session.checkpoint(request)
      session.append('assistant/chunk', { turn: 1, step: 1, kind: 'text', index: 0, text: 'once ' })
      session.append('assistant/chunk', { turn: 1, step: 1, kind: 'text', index: 0, text: 'upon' })
      await session.flush()
    })
    const persistence = await openMemory({ medium })
    const view = await persistence.inspect(ID)
    const session = await persistence.resume(ID)
    expect(session.messages()).toEqual([user('tell me'), assistant('once upon')])
    expect(session.recovery?.closed).toEqual(view.recovery.closed)
    expect(session.lastRequest()).toMatchObject({
      attempt: 2,
      derived: false,
      context: { messages: [user('tell me')] },
    })
  })
})

describe('a resume refuses', () => {
  it('a log whose head is not the expected one', async () => {
    const medium = await afterResult()
    const persistence = await openMemory({ medium })
    const view = await persistence.inspect(ID)
    await expect(persistence.resume(ID, { expectHead: { seq: 7, crc: '00000000' } })).rejects.toMatchObject({
      code: 'CORRUPT',
      expected: 7,
      found: 6,
    })
    await expect(persistence.resume(ID, { expectHead: { seq: 6, crc: '00000000' } })).rejects.toMatchObject({
      code: 'CORRUPT',
      found: view.head.crc,
    })
    const session = await persistence.resume(ID, { expectHead: view.head })
    expect(session.nextSeq).toBe(9)
  })

  it('a second writer, and lets the first go on', async () => {
    const medium = createMemoryMedium()
    const one = await openMemory({ medium })
    const session = await one.create({ id: ID })
    completeTurn(session, 1, 'q', 'a')
    await session.flush()
    for (const persistence of [one, await openMemory({ medium })]) {
      await expect(persistence.resume(ID)).rejects.toMatchObject({ code: 'LOCKED', sessionId: ID })
    }
    completeTurn(session, 2, 'q', 'a')
    await session.close()
    expect((await types(medium)).length).toBe(12)
  })

  it('an unknown required type, unless it is in the catalog or to be preserved', async () => {
    const medium = createMemoryMedium()
    const events = { 'acme/vote': { ignorable: false }, 'acme/hint': { ignorable: true } }
    const writer = await openMemory({ medium, events })
    const session = await writer.create({ id: ID })
    session.appendAll([
      { type: 'acme/vote' as never, data: { yes: 1 } as never },
      { type: 'acme/hint' as never, data: { x: 1 } as never },
    ])
    await session.close()
    const stranger = await openMemory({ medium })
    await expect(stranger.resume(ID)).rejects.toMatchObject({
      code: 'UNKNOWN_EVENT',
      message: expect.stringContaining('acme/vote'),
    })
    const view = await stranger.inspect(ID)
    expect(view.unknownTypes).toEqual(['acme/vote'])
    expect(view.recovery.refusal?.code).toBe('UNKNOWN_EVENT')
    expect((await collect(stranger.read(ID))).length).toBe(2)
    const kept = await stranger.resume(ID, { preserveUnknown: true })
    await kept.close()
    await (await writer.resume(ID)).close()
  })
})
