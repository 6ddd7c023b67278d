// Proves: follow yields what is stored, then what is written, in order, and ends with the session or the signal.
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/persistence/open-memory.ts'
import { createMemoryMedium } from '../../src/storage/memory-medium.ts'
import { completeTurn, user } from './conversation.ts'

describe('follow', () => {
  it('yields stored and then new events, and ends when the session is deleted', async () => {
    const medium = createMemoryMedium()
    const writer = await openMemory({ medium })
    const session = await writer.create({ id: 'live' })
    completeTurn(session, 1, 'q', 'a')
    await session.flush()
    const seen: number[] = []
    const following = (async () => {
      for await (const event of (await openMemory({ medium })).follow('live', { from: 2 })) {
        seen.push(event.seq)
        if (event.seq === 5) completeTurn(session, 2, 'q', 'a')
        if (event.seq === 5) await session.flush()
        if (event.seq === 11) {
          await session.close()
          await writer.delete('live')
        }
      }
    })()
    await following
    expect(seen).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  it('rejects with the reason of its signal while it waits', async () => {
    const persistence = await openMemory()
    const session = await persistence.create({ id: 'live' })
    session.append('user/message', { message: user('x') })
    await session.flush()
    const controller = new AbortController()
    const reason = new Error('enough')
    const following = (async () => {
      for await (const event of persistence.follow('live', { signal: controller.signal })) {
        if (event.seq === 0) setImmediate(() => controller.abort(reason))
      }
    })()
    await expect(following).rejects.toBe(reason)
  })
})
