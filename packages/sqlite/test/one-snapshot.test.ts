// Proves that all of one look at the database sees one state: an index and its table never seem to contradict each other
// because somebody committed in between; and that a log which grows while it is checked is no damaged one.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Database } from '../src/database.ts'
import { DatabaseFile } from '../src/database-file.ts'
import { loadDriver } from '../src/driver.ts'
import { sqliteStorage } from '../src/index.ts'
import { deleteSomeRecords, hideSession, rowOf } from '../src/session-statements.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { notes, SAMPLE_BATCHES, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

it('two statements of one look give the same, whatever is committed between them', async () => {
  const file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  await store(storage, 's', SAMPLE_BATCHES)
  await storage.close()
  const database = new Database(loadDriver(), new DatabaseFile(file), { journal: 'wal', busyMs: 0 })
  using other = new RawDatabase(file)
  const count = 'SELECT count(*) FROM session'
  const counts = await database.read((connection) => {
    const before = connection.number(count)
    other.exec('DELETE FROM record; DELETE FROM header; DELETE FROM session')
    return [before, connection.number(count)]
  })
  expect(counts).toEqual([1, 1])
  expect(await database.read((connection) => connection.number(count))).toBe(0)
  await database.close()
})

it('a log that grows between the slices of a check has no problems', async () => {
  const file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  const text = 'x'.repeat(100_000)
  const large = (from: number): ReturnType<typeof notes> =>
    Array.from({ length: 20 }, (_, index) => ({
      seq: from + index,
      time: 1,
      type: 'acme/large',
      data: { text },
      ignorable: true,
    }))
  await store(storage, 's', [large(0)])
  const checking = storage.check('s')
  const writer = await storage.openWriter('s', { kind: 'resume' })
  await writer.append(large(20))
  await writer.close()
  expect((await checking).problems).toEqual([])
  await storage.close()
})

it('a sound log has no problems wherever the slices of a check end', async () => {
  const file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  const large = (length: number, seq: number): ReturnType<typeof notes>[number] => ({
    seq,
    time: 1,
    type: 'acme/large',
    data: { text: 'x'.repeat(length) },
    ignorable: true,
  })
  await store(storage, 'one', [[large(600_000, 0)]])
  await store(storage, 'last', [[large(1, 0), large(600_000, 1)]])
  await store(storage, 'each', [[0, 1, 2, 3].map((seq) => large(600_000, seq))])
  for (const [id, events] of [
    ['one', 1],
    ['last', 2],
    ['each', 4],
  ] as const) {
    expect(await storage.check(id)).toMatchObject({ events, problems: [] })
  }
  {
    using raw = new RawDatabase(file)
    raw.exec('UPDATE record SET time = time + 1 WHERE key = (3 << 32) + 1')
    raw.exec('DELETE FROM record WHERE key = (3 << 32) + 3')
  }
  const damaged = await storage.check('each')
  expect(damaged.events).toBe(2)
  expect(damaged.problems.map(({ seq }) => seq)).toEqual([1, 3])
  await storage.close()
})

it('a session that is deleted while it is looked at is NOT_FOUND, and its row stays whole', async () => {
  const file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  await store(storage, 's', [notes(5000)])
  const reader = await storage.openReader('s')
  const pages = reader.read({})[Symbol.asyncIterator]()
  await pages.next()
  const database = new Database(loadDriver(), new DatabaseFile(file), { journal: 'wal', busyMs: 0 })
  // As far as another process may have come.
  const row = await database.commit(0, (connection) => {
    hideSession(connection, 's')
    deleteSomeRecords(connection, 1, 4000)
    return rowOf(connection, 1)
  })
  expect(row?.place).toBe('.deleted')
  await expect(pages.next()).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(storage.check('s')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await storage.list({ limit: 10 })).toEqual([])
  await database.close()
  await storage.close()
})

it('a session that is deleted between the slices of a check is NOT_FOUND', async () => {
  const file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  await store(
    storage,
    's',
    Array.from(
      { length: 8 },
      (_, seq) => [{ ...notes(1, seq)[0], data: 'x'.repeat(600_000) }] as ReturnType<typeof notes>,
    ),
  )
  const checking = storage.check('s')
  const [checked, deleted] = await Promise.allSettled([checking, storage.delete('s')])
  expect(deleted).toMatchObject({ status: 'fulfilled', value: true })
  expect(checked).toMatchObject({ reason: { code: 'NOT_FOUND' } })
  await storage.close()
})
