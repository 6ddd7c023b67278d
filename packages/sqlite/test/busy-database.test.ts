// Proves that contention is waited out without holding the event loop, and is BUSY once the bound is reached.
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { note, notes, readAll, sampleHeader, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

let file = ''

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
})

/** Turns of the event loop until the promise is settled. */
async function turnsUntil(promise: Promise<unknown>): Promise<number> {
  let settled = false
  const done = promise.then(
    () => {
      settled = true
    },
    () => {
      settled = true
    },
  )
  let turns = 0
  for (; !settled; turns++) await new Promise((resolve) => setImmediate(resolve))
  await done
  return turns
}

describe('a database that another connection holds', () => {
  it('is BUSY past the bound; nothing was stored, and the same batch goes in later', async () => {
    const storage = sqliteStorage({ file, busyMs: 60 })
    await store(storage, 'other', [notes(1)])
    const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
    {
      using raw = new RawDatabase(file)
      raw.exec('BEGIN IMMEDIATE')
      const append = writer.append(notes(3))
      // A driver that waits by itself would let no turn pass.
      expect(await turnsUntil(append)).toBeGreaterThan(20)
      await expect(append).rejects.toMatchObject({ code: 'BUSY', path: file })
      await expect(storage.openReader('s')).rejects.toMatchObject({ code: 'NOT_FOUND' })
      raw.exec('ROLLBACK')
    }
    await writer.append([...notes(3), note(3)])
    await writer.close()
    expect(await readAll(storage, 's')).toEqual(notes(4))
    await storage.close()
  })

  it('keeps no reader out in WAL mode', async () => {
    const storage = sqliteStorage({ file, busyMs: 0 })
    await store(storage, 's', [notes(3)])
    using raw = new RawDatabase(file)
    raw.exec('BEGIN IMMEDIATE')
    expect(await readAll(storage, 's')).toEqual(notes(3))
    expect(await storage.list({ limit: 1 })).toHaveLength(1)
    raw.exec('ROLLBACK')
    await storage.close()
  })

  it('is waited for while the bound lasts', async () => {
    const storage = sqliteStorage({ file, busyMs: 30_000 })
    await store(storage, 'other', [notes(1)])
    const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
    using raw = new RawDatabase(file)
    raw.exec('BEGIN IMMEDIATE')
    const append = writer.append(notes(3))
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    raw.exec('ROLLBACK')
    await append
    await writer.close()
    await storage.close()
  })

  it('exclusively, with a rollback journal, is BUSY to readers too', async () => {
    const storage = sqliteStorage({ file, journal: 'delete', busyMs: 40 })
    await store(storage, 's', [notes(3)])
    using raw = new RawDatabase(file)
    raw.exec('BEGIN EXCLUSIVE')
    await expect(storage.openReader('s')).rejects.toMatchObject({ code: 'BUSY' })
    await expect(storage.list({ limit: 1 })).rejects.toMatchObject({ code: 'BUSY' })
    raw.exec('ROLLBACK')
    expect(await readAll(storage, 's')).toEqual(notes(3))
    await storage.close()
  })

  it('in a journal mode that has to change is BUSY, and changes nothing', async () => {
    const wal = sqliteStorage({ file })
    await store(wal, 's', [notes(3)])
    const other = sqliteStorage({ file, journal: 'delete', busyMs: 20 })
    await expect(store(other, 't', [notes(1)])).rejects.toMatchObject({ code: 'BUSY' })
    await other.close()
    await store(wal, 'u', [notes(1)])
    await wal.close()
    const alone = sqliteStorage({ file, journal: 'delete' })
    await store(alone, 't', [notes(2)])
    expect(await readAll(alone, 's')).toEqual(notes(3))
    await alone.close()
    using raw = new RawDatabase(file)
    expect(raw.value('PRAGMA journal_mode')).toBe('delete')
  })
})
