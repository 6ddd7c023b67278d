// Proves: a log that is looked at while its writer goes on and closes is short of nothing, whenever its summary is read;
// and a log that was deleted meanwhile neither.
import { describe, expect, it } from 'vitest'
import type { SessionPersistence } from '../../src/persistence/session-persistence.ts'
import { createPersistence } from '../../src/persistence/stored-sessions.ts'
import { memoryStorage } from '../../src/storage/memory-storage.ts'
import type { SessionStorage, StorageReader } from '../../src/storage/session-storage.ts'
import { completeTurn } from './conversation.ts'

/**
 * Calls `meanwhile` once, right before the first summary is read: the log has been opened by then. And `beforeAgain` before
 * the log is opened a second time.
 */
function interrupted(
  storage: SessionStorage,
  meanwhile: () => Promise<void>,
  beforeAgain?: () => Promise<unknown>,
): SessionStorage {
  let left = 1
  let opened = 0
  return {
    description: storage.description,
    openWriter: (id, intent) => storage.openWriter(id, intent),
    list: (query) => storage.list(query),
    delete: (id) => storage.delete(id),
    check: (id) => storage.check(id),
    close: () => storage.close(),
    async openReader(id): Promise<StorageReader> {
      if (++opened === 2) await beforeAgain?.()
      const reader = await storage.openReader(id)
      const derived = reader.derived.bind(reader)
      reader.derived = async (document) => {
        if (document === 'summary' && left-- > 0) await meanwhile()
        return derived(document)
      }
      return reader
    },
  }
}

async function stored(storage: SessionStorage): Promise<SessionPersistence> {
  const persistence = createPersistence(storage)
  const session = await persistence.create({ id: 's' })
  completeTurn(session, 1, 'q', 'a')
  await session.close()
  return persistence
}

const looks: readonly (readonly [string, (of: SessionPersistence) => Promise<unknown>])[] = [
  ['verify', async (persistence) => (await persistence.verify('s')).notes[0]],
  ['inspect', async (persistence) => (await persistence.inspect('s')).recovery.missing],
]

describe.each(looks)('%s', (_, look) => {
  it.each([false, true])('beside a writer that appends and closes (deleted then: %s)', async (deleted) => {
    const storage = memoryStorage()
    const writing = await stored(storage)
    const append = async (): Promise<void> => {
      const session = await writing.resume('s')
      completeTurn(session, 2, 'q', 'a')
      await session.close()
    }
    const beside = interrupted(storage, append, deleted ? () => writing.delete('s') : undefined)
    expect(await look(createPersistence(beside))).toBeUndefined()
  })
})
