// Proves: open, close, close twice, use after close, and abandoned sessions behave as promised, with no lock left behind.
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/persistence/open-memory.ts'
import { createMemoryMedium } from '../../src/storage/memory-medium.ts'
import { collect, completeTurn, turnUpToCall, user } from './conversation.ts'

describe('lifecycle', () => {
  it('a session that never flushed leaves nothing', async () => {
    const persistence = await openMemory()
    const session = await persistence.create({ id: 'ghost' })
    session.append('user/message', { message: user('lost') })
    expect(await session.abandon()).toHaveLength(1)
    expect((await persistence.list()).sessions).toEqual([])
    await expect(persistence.inspect('ghost')).rejects.toMatchObject({ code: 'NOT_FOUND', sessionId: 'ghost' })
    await (await persistence.create({ id: 'ghost' })).close()
  })

  it('after close every call of a session is refused with CLOSED, and closing again is fine', async () => {
    const persistence = await openMemory()
    const session = await persistence.create()
    completeTurn(session, 1, 'q', 'a')
    await Promise.all([session.close(), session.close()])
    await session.close()
    expect(() => session.append('session/title', { title: 'late' })).toThrow(
      expect.objectContaining({ code: 'CLOSED' }),
    )
    expect(() => session.appendAll([])).toThrow(expect.objectContaining({ code: 'CLOSED' }))
    expect(() => session.read()).toThrow(expect.objectContaining({ code: 'CLOSED' }))
    expect(() => session.readPages()).toThrow(expect.objectContaining({ code: 'CLOSED' }))
    for (const call of [session.flush(), session.drained(), session.closeTurn({ reason: { kind: 'completed' } })]) {
      await expect(call).rejects.toMatchObject({ code: 'CLOSED', sessionId: session.id })
    }
  })

  it('closing a persistence flushes and releases every session, then refuses', async () => {
    const medium = createMemoryMedium()
    const persistence = await openMemory({ medium })
    const session = await persistence.create({ id: 'one' })
    session.append('user/message', { message: user('kept') })
    await persistence.close()
    await persistence.close()
    await expect(persistence.list()).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(persistence.create()).rejects.toMatchObject({ code: 'CLOSED' })
    expect(() => persistence.read('one')).toThrow(expect.objectContaining({ code: 'CLOSED' }))
    expect(() => persistence.readPages('one')).toThrow(expect.objectContaining({ code: 'CLOSED' }))
    const again = await openMemory({ medium })
    expect((await collect(again.read('one'))).length).toBe(1)
    await (await again.resume('one')).close()
  })

  it('an event appended while close flushes is stored', async () => {
    const persistence = await openMemory()
    const session = await persistence.create({ id: 'late' })
    session.append('session/title', { title: 'a' })
    const closed = session.close()
    session.append('session/title', { title: 'b' })
    await closed
    expect((await collect(persistence.read('late'))).length).toBe(2)
  })

  it('refuses ids that are no ids', async () => {
    const persistence = await openMemory()
    for (const id of ['', '\ud800', 'x'.repeat(1025), 7 as never, undefined as never]) {
      await expect(persistence.inspect(id)).rejects.toMatchObject({ code: 'INVALID_ID' })
      expect(() => persistence.read(id)).toThrow(expect.objectContaining({ code: 'INVALID_ID' }))
    }
    await expect(persistence.create({ id: '' })).rejects.toMatchObject({ code: 'INVALID_ID' })
  })
})

describe('closing beside everything else', () => {
  it('a close beside an append and a flush stores both and frees the lock', async () => {
    const persistence = await openMemory()
    const session = await persistence.create({ id: 'busy' })
    for (let turn = 1; turn <= 200; turn++) completeTurn(session, turn, 'q', 'a')
    const closed = session.close()
    session.append('session/title', { title: 'late' })
    await session.flush()
    await closed
    const again = await persistence.resume('busy')
    expect(again.summary()).toMatchObject({ title: 'late', turns: 200 })
    await again.close()
  })

  it('a session that was being opened is closed with its persistence', async () => {
    const medium = createMemoryMedium()
    const persistence = await openMemory({ medium })
    const session = await persistence.create({ id: 'one' })
    completeTurn(session, 1, 'q', 'a')
    await session.close()
    const opening = [persistence.resume('one'), persistence.create({ id: 'two' })]
    await persistence.close()
    for (const opened of await Promise.allSettled(opening)) {
      if (opened.status === 'rejected') expect(opened.reason).toMatchObject({ code: 'CLOSED' })
      else expect(() => opened.value.append('session/title', { title: 't' })).toThrow(/closed/)
    }
    expect([...medium.locks]).toEqual([])
  })

  it('a follower and a waiting reconcile end with CLOSED', async () => {
    const medium = createMemoryMedium()
    const writer = await openMemory({ medium })
    const session = await writer.create({ id: 'one' })
    turnUpToCall(session)
    await session.flush()
    const persistence = await openMemory({ medium })
    const following = collect(persistence.follow('one'))
    const followed = expect(following).rejects.toMatchObject({ code: 'CLOSED' })
    await new Promise((resolve) => setImmediate(resolve))
    await persistence.close()
    await followed
    medium.locks.clear()
    const reconciling = await openMemory({ medium })
    let begun = (): void => {}
    const waiting = new Promise<void>((resolve) => {
      begun = resolve
    })
    const resumed = reconciling.resume('one', {
      reconcile: (_call, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
          begun()
        }),
    })
    const refused = expect(resumed).rejects.toMatchObject({ code: 'CLOSED' })
    await waiting
    await reconciling.close()
    await refused
    expect([...medium.locks]).toEqual([])
  })

  it('an abandoned session writes nothing later and fails nothing', async () => {
    const failures: unknown[] = []
    const persistence = await openMemory({ writeWindowMs: 0, onFailure: (error) => failures.push(error) })
    const session = await persistence.create({ id: 'gone' })
    session.append('session/title', { title: 'a' })
    const flushing = session.flush()
    session.append('session/title', { title: 'b' })
    const pending = await session.abandon()
    await flushing
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 0))
    expect(failures).toEqual([])
    expect((await collect(persistence.read('gone'))).length).toBe(2 - pending.length)
  })
})

describe('two at once', () => {
  it('deletes of one session are one', async () => {
    const persistence = await openMemory()
    const session = await persistence.create({ id: 'twice' })
    completeTurn(session, 1, 'q', 'a')
    await session.close()
    expect(await Promise.all([persistence.delete('twice'), persistence.delete('twice')])).toEqual([true, true])
    expect(await persistence.delete('twice')).toBe(false)
  })

  it('a reconcile that never settles ends with its signal, and frees the lock', async () => {
    const medium = createMemoryMedium()
    const session = await (await openMemory({ medium })).create({ id: 'stuck' })
    turnUpToCall(session)
    await session.flush()
    medium.locks.clear()
    const persistence = await openMemory({ medium })
    const controller = new AbortController()
    const reason = new Error('enough')
    const resumed = persistence.resume('stuck', {
      signal: controller.signal,
      reconcile: () => {
        setImmediate(() => controller.abort(reason))
        return new Promise(() => {})
      },
    })
    await expect(resumed).rejects.toBe(reason)
    expect([...medium.locks]).toEqual([])
  })
})
