// Proves: follow yields what is stored, then what is written, in order, and ends with the session or the signal.
import { describe, expect, it } from 'vitest'
import { SessionError } from '../../src/errors.ts'
import { openMemory } from '../../src/persistence/open-memory.ts'
import { createPersistence } from '../../src/persistence/stored-sessions.ts'
import { createMemoryMedium } from '../../src/storage/memory-medium.ts'
import { memoryStorage } from '../../src/storage/memory-storage.ts'
import type { SessionStorage } from '../../src/storage/session-storage.ts'
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

  it('ends when the session is deleted while a page of it is read', async () => {
    const medium = createMemoryMedium()
    const writer = await openMemory({ medium })
    const session = await writer.create({ id: 'short-lived' })
    completeTurn(session, 1, 'q', 'a')
    await session.close()
    const storage = memoryStorage(medium)
    // A medium that holds nothing for its readers: the next page of a deleted log is not there.
    const openReader: typeof storage.openReader = async (id) => {
      const reader = await storage.openReader(id)
      reader.read = async function* () {
        yield [{ seq: 0, time: 1, type: 'turn/start', data: { turn: 1 } }]
        throw new SessionError('NOT_FOUND', 'gone')
      }
      return reader
    }
    const persistence = createPersistence({ ...unbound(storage), openReader })
    const seen: number[] = []
    for await (const event of persistence.follow('short-lived')) seen.push(event.seq)
    expect(seen).toEqual([0])
  })
})

/** The storage as an object whose functions may be replaced one by one. */
function unbound(storage: SessionStorage): SessionStorage {
  return {
    description: storage.description,
    openWriter: (id, intent) => storage.openWriter(id, intent),
    openReader: (id) => storage.openReader(id),
    list: (query) => storage.list(query),
    delete: (id) => storage.delete(id),
    check: (id) => storage.check(id),
    close: () => storage.close(),
  }
}
