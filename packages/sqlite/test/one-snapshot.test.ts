// Proves that all of one look at the database sees one state: an index and its table never seem to contradict each other
// because somebody committed in between; and that a log which grows while it is checked is no damaged one.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Database } from '../src/database.ts'
import { DatabaseFile } from '../src/database-file.ts'
import { loadDriver } from '../src/driver.ts'
import { sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { type notes, SAMPLE_BATCHES, store } from './parts/sample-log.ts'
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
