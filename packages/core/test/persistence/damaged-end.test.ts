// Proves: damage behind the last sound batch never makes a log look shorter than it is, whoever reads it.
import { describe, expect, it } from 'vitest'
import { SessionError } from '../../src/errors.ts'
import type { SessionPersistence } from '../../src/persistence/session-persistence.ts'
import { createPersistence } from '../../src/persistence/stored-sessions.ts'
import { memoryStorage } from '../../src/storage/memory-storage.ts'
import type { SessionStorage } from '../../src/storage/session-storage.ts'
import { collect, completeTurn } from './conversation.ts'

/** Two stored turns, and a third whose batch is damaged: a read to the end says so, the count of events does not. */
async function damagedAtTheEnd(): Promise<SessionPersistence> {
  const storage = memoryStorage()
  const writer = createPersistence(storage)
  const session = await writer.create({ id: 'hurt' })
  completeTurn(session, 1, 'q', 'a')
  completeTurn(session, 2, 'q', 'a')
  await session.close()
  const openReader: SessionStorage['openReader'] = async (id) => {
    const reader = await storage.openReader(id)
    const read = reader.read.bind(reader)
    reader.read = async function* (range) {
      yield* read(range)
      if (range.to === undefined) throw new SessionError('CORRUPT', 'the batch at seq 12 is damaged', { seq: 12 })
    }
    return reader
  }
  return createPersistence({
    description: storage.description,
    openWriter: (id, intent) => storage.openWriter(id, intent),
    openReader,
    list: (query) => storage.list(query),
    delete: (id) => storage.delete(id),
    check: (id) => storage.check(id),
    close: () => storage.close(),
  })
}

describe('a damaged last batch', () => {
  const corrupt = { code: 'CORRUPT', sessionId: 'hurt', seq: 12 }

  it('is CORRUPT to inspect, fork, export, follow and read', async () => {
    const persistence = await damagedAtTheEnd()
    await expect(persistence.inspect('hurt')).rejects.toMatchObject(corrupt)
    await expect(persistence.fork('hurt')).rejects.toMatchObject(corrupt)
    await expect(collect(persistence.read('hurt'))).rejects.toMatchObject(corrupt)
    await expect(collect(persistence.follow('hurt'))).rejects.toMatchObject(corrupt)
    const source = await persistence.exportLog('hurt')
    await expect(collect(source.events)).rejects.toMatchObject({ code: 'CORRUPT', seq: 12 })
  })

  it('is found by a follower that stands right before it', async () => {
    const persistence = await damagedAtTheEnd()
    await expect(collect(persistence.follow('hurt', { from: 12 }))).rejects.toMatchObject(corrupt)
  })

  it('leaves what lies before it within reach of who names an end', async () => {
    const persistence = await damagedAtTheEnd()
    expect((await persistence.inspect('hurt', { at: 11 })).summary().turns).toBe(2)
    expect((await persistence.fork('hurt', { at: 11 })).nextSeq).toBe(13)
    expect((await collect(persistence.read('hurt', { to: 11 }))).length).toBe(12)
  })

  it('marks the session as damaged in a list, and no other', async () => {
    const persistence = await damagedAtTheEnd()
    // A summary document describes the end that it was written at, and says nothing of what stands behind it.
    expect((await persistence.list()).sessions).toMatchObject([{ id: 'hurt', events: 12 }])
    expect((await persistence.verify('hurt')).problems).toMatchObject([{ code: 'CORRUPT', seq: 12 }])
  })
})
