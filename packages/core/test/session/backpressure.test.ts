// Proves: past the bound of pending bytes append refuses, and drained() says when to go on.
import { describe, expect, it } from 'vitest'
import { createPersistence } from '../../src/persistence/stored-sessions.ts'
import { user } from '../persistence/conversation.ts'
import { gatedStorage } from '../storage/gated-storage.ts'

describe('backpressure', () => {
  it('refuses with BACKPRESSURE, appends nothing, and lets go after drained()', async () => {
    const { storage, gate } = gatedStorage()
    const session = await createPersistence(storage, { pendingBytes: 10_000 }).create()
    gate.hold()
    const text = 'x'.repeat(1_000)
    let accepted = 0
    expect(() => {
      for (; accepted < 100; accepted++) session.append('user/message', { message: user(text) })
    }).toThrow(expect.objectContaining({ code: 'BACKPRESSURE', expected: 10_000 }))
    expect(accepted).toBeGreaterThanOrEqual(7)
    expect(accepted).toBeLessThan(10)
    expect(session.nextSeq).toBe(accepted)
    const drained = session.drained()
    gate.release()
    await drained
    session.append('user/message', { message: user(text) })
    expect((await session.flush()).seq).toBe(accepted)
  })

  it('a lone event above the bound is let in', async () => {
    const { storage } = gatedStorage()
    const session = await createPersistence(storage, { pendingBytes: 10 }).create()
    session.append('user/message', { message: user('longer than ten bytes') })
    expect((await session.flush()).seq).toBe(0)
  })
})
