// Proves: a flush is a barrier with a receipt, flushes share syncs, and nothing is written before the window or a flush.
import { describe, expect, it } from 'vitest'
import { headReceipt } from '../../src/event/event-json.ts'
import { createPersistence } from '../../src/persistence/stored-sessions.ts'
import { completeTurn, user } from '../persistence/conversation.ts'
import { gatedStorage } from '../storage/gated-storage.ts'

describe('flush', () => {
  it('resolves with the receipt of the last durable event', async () => {
    const { storage } = gatedStorage()
    const session = await createPersistence(storage).create()
    const event = session.append('user/message', { message: user('hello') })
    expect(session.durableSeq).toBe(0)
    expect(await session.flush()).toEqual(headReceipt(event))
    expect(session.durableSeq).toBe(1)
    expect(session.pendingEvents()).toEqual([])
  })

  it('of an empty session names seq -1 and stores nothing', async () => {
    const { storage } = gatedStorage()
    const persistence = createPersistence(storage)
    const session = await persistence.create()
    expect(await session.flush()).toEqual(headReceipt(undefined))
    await session.close()
    expect((await persistence.list()).sessions).toEqual([])
  })

  it('many appends and flushes that are not awaited one by one share two batches', async () => {
    const { storage, gate } = gatedStorage()
    const session = await createPersistence(storage).create()
    const flushes: Promise<{ seq: number }>[] = []
    for (let n = 0; n < 500; n++) {
      session.append('user/message', { message: user(`${n}`) })
      flushes.push(session.flush())
    }
    const receipts = await Promise.all(flushes)
    expect(gate.batches).toEqual([1, 499])
    for (const [n, receipt] of receipts.entries()) expect(receipt.seq).toBeGreaterThanOrEqual(n)
  })

  it('appendAll reaches the medium in one batch', async () => {
    const { storage, gate } = gatedStorage()
    const session = await createPersistence(storage).create()
    gate.hold()
    session.append('session/title', { title: 'first' })
    const flushed = session.flush()
    session.appendAll([
      { type: 'session/title', data: { title: 'a' } },
      { type: 'session/title', data: { title: 'b' } },
    ])
    gate.release()
    await flushed
    await session.flush()
    expect(gate.batches).toEqual([1, 2])
  })

  it('a background write happens without a flush', async () => {
    const { storage, gate } = gatedStorage()
    const session = await createPersistence(storage, { writeWindowMs: 0 }).create()
    completeTurn(session, 1, 'q', 'a')
    gate.hold()
    const drained = new Promise<void>((resolve) => {
      const look = (): void => {
        if (session.durableSeq === 6) resolve()
        else setImmediate(look)
      }
      gate.release()
      look()
    })
    await drained
    expect(gate.batches).toEqual([6])
  })
})
