// Proves: while running, a snapshot is written after 16 MiB of events and four times its own size, and after a long fold.
import { describe, expect, it } from 'vitest'
import { createPersistence } from '../../src/persistence/stored-sessions.ts'
import { parseSnapshot } from '../../src/projection/snapshot.ts'
import { memoryStorage } from '../../src/storage/memory-storage.ts'
import type { SessionStorage } from '../../src/storage/session-storage.ts'
import { user } from '../persistence/conversation.ts'

const MiB = 1024 * 1024
const text = 'x'.repeat(MiB)

/** Seq of the newest stored snapshot; undefined when there is none. */
async function snapshotSeq(storage: SessionStorage, id: string): Promise<number | undefined> {
  const reader = await storage.openReader(id)
  try {
    const stored = await reader.derived('snapshots')
    return stored === undefined ? undefined : parseSnapshot(stored, [])?.head.seq
  } finally {
    await reader.close()
  }
}

describe('snapshots of a running session', () => {
  it('come after 16 MiB of events that no state keeps, not by their number', async () => {
    const storage = memoryStorage()
    const session = await createPersistence(storage).create({ id: 'a' })
    const seqs: (number | undefined)[] = []
    for (let n = 0; n < 34; n++) {
      session.append('session/title', { title: n % 2 === 0 ? text : 'short' })
      for (let small = 0; small < 1000; small++) session.append('session/title', { title: 'short' })
      await session.flush()
      seqs.push(await snapshotSeq(storage, 'a'))
    }
    const first = seqs.findIndex((seq) => seq !== undefined)
    // 17 MiB-sized titles in 34 batches of about 0.6 MiB each: the bound is met once, between the 20th and the last.
    expect(first).toBeGreaterThan(20)
    expect(seqs[first]).toBe((first + 1) * 1001 - 1)
    expect(new Set(seqs).size).toBe(2)
  })

  it('come less often where the state is large: after four times its size', async () => {
    const storage = memoryStorage()
    const session = await createPersistence(storage).create({ id: 'a' })
    const seqs: (number | undefined)[] = []
    for (let n = 0; n < 80; n++) {
      session.append('user/message', { message: user(text) })
      await session.flush()
      if (n === 14 || n === 15 || n >= 78) seqs.push(await snapshotSeq(storage, 'a'))
    }
    // Each message stays in the state: 16 MiB, then 4 × 16 more.
    expect(seqs).toEqual([undefined, 15, 15, 79])
  })

  it('come with the first batch after a resume that folded 20,000 events', async () => {
    const storage = memoryStorage()
    const persistence = createPersistence(storage)
    const long = await persistence.create({ id: 'long' })
    const short = await persistence.create({ id: 'short' })
    for (const [session, count] of [
      [long, 20_000],
      [short, 19_000],
    ] as const) {
      for (let n = 0; n < count; n++) session.append('session/title', { title: 'short' })
      await session.flush()
      await session.abandon()
      expect(await snapshotSeq(storage, session.id)).toBeUndefined()
    }
    for (const id of ['long', 'short']) {
      const resumed = await persistence.resume(id)
      resumed.append('session/title', { title: 'again' })
      await resumed.flush()
      await resumed.abandon()
    }
    expect(await snapshotSeq(storage, 'long')).toBe(20_001)
    expect(await snapshotSeq(storage, 'short')).toBeUndefined()
  })
})
