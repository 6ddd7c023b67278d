// Proves that flushes that wait together share one transaction, that a conflict costs its own session only, and that a
// batch that comes twice is stored once.
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createPersistence, type StorageWriter } from '@session-persistence/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sqliteStorage } from '../src/index.ts'
import { SqliteWriter } from '../src/sqlite-writer.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { chunk, note, notes, readAll, sampleHeader, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

let file = ''
let storage: ReturnType<typeof sqliteStorage>

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
  storage = sqliteStorage({ file })
})

function create(id: string): Promise<StorageWriter> {
  return storage.openWriter(id, { kind: 'create', header: sampleHeader(id) })
}

async function closeAll(...writers: readonly StorageWriter[]): Promise<void> {
  for (const writer of writers) await writer.close()
  await storage.close()
}

/** Commits that a call leads to, as another connection sees them. */
async function commitsOf(call: () => Promise<unknown>): Promise<number> {
  using raw = new RawDatabase(file)
  raw.rows('SELECT count(*) FROM session')
  const before = Number(raw.value('PRAGMA data_version'))
  await call()
  raw.rows('SELECT count(*) FROM session')
  return Number(raw.value('PRAGMA data_version')) - before
}

describe('appends of many sessions in one turn of the event loop', () => {
  it('are one commit', async () => {
    const writers = await Promise.all(Array.from({ length: 64 }, (_, index) => create(`s${index}`)))
    await Promise.all(writers.map((writer) => writer.append(notes(2))))
    const commits = await commitsOf(() => Promise.all(writers.map((writer) => writer.append(notes(3, 2)))))
    expect(commits).toBe(1)
    for (let index = 0; index < 64; index++) expect(await readAll(storage, `s${index}`)).toEqual(notes(5))
    await closeAll(...writers)
  })

  it('of which one conflicts are stored but for that one', async () => {
    const writers = await Promise.all(['a', 'b', 'c'].map(create))
    await Promise.all(writers.map((writer) => writer.append(notes(2))))
    {
      using raw = new RawDatabase(file)
      raw.exec(
        "DELETE FROM session WHERE number = (SELECT number FROM session AS s JOIN header AS h ON h.session = s.number WHERE h.header ->> '$.id' = 'b')",
      )
    }
    const outcomes = await Promise.allSettled(writers.map((writer) => writer.append(notes(1, 2))))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(outcomes[1]).toMatchObject({ reason: { code: 'CONFLICT', sessionId: 'b' } })
    for (const id of ['a', 'c']) expect(await readAll(storage, id)).toEqual(notes(3))
    await closeAll(...writers)
  })
})

describe('a batch whose outcome was unknown to the caller', () => {
  it('is recognised when the stored events are the same, whole or in part', async () => {
    const first = await create('s')
    await first.append(notes(2))
    const [chunks] = [[chunk(2, 'a'), chunk(3, 'b'), chunk(4, 'c'), note(5)]]
    await first.append(chunks)
    await first.close()
    // As of before the batch: what a writer knows that never heard the answer.
    const stale = await staleWriter(2)
    await stale.append(chunks)
    await stale.append([note(6)])
    await stale.close()
    const partly = await staleWriter(5)
    await partly.append([note(5), note(6), note(7)])
    expect(await readAll(storage, 's')).toEqual([...notes(2), ...chunks, note(6), note(7)])
    await closeAll(partly)
  })

  it('is CONFLICT when they differ, and nothing is changed', async () => {
    const first = await create('s')
    await first.append(notes(4))
    await first.close()
    const stale = await staleWriter(2)
    await expect(stale.append([note(2), note(3, { text: 'different' })])).rejects.toMatchObject({
      code: 'CONFLICT',
      expected: 4,
      found: 2,
    })
    await expect(stale.append([note(3)])).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(stale.append([note(9)])).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await readAll(storage, 's')).toEqual(notes(4))
    await closeAll(stale)
  })

  /** A writer that believes the log to end at `nextSeq`. */
  async function staleWriter(nextSeq: number): Promise<StorageWriter> {
    const stored = await readAll(storage, 's')
    const other = sqliteStorage({ file })
    await storage.delete('s')
    await store(other, 's', [stored.slice(0, nextSeq)])
    const writer = await storage.openWriter('s', { kind: 'resume' })
    // Behind its back, under the same salt.
    const { SqliteWriter } = await import('../src/sqlite-writer.ts')
    const { Database } = await import('../src/database.ts')
    const { DatabaseFile } = await import('../src/database-file.ts')
    const { loadDriver } = await import('../src/driver.ts')
    const { findSession } = await import('../src/session-statements.ts')
    const database = new Database(loadDriver(), new DatabaseFile(file), { journal: 'wal', busyMs: 5000 })
    const found = await database.read((connection) => findSession(connection, 's'))
    if (found === undefined) throw new Error('the session is not there')
    const intruder = SqliteWriter.resume(database, { release: async () => {} } as never, found)
    if (stored.length > nextSeq) await intruder.append(stored.slice(nextSeq))
    await intruder.close()
    await database.close()
    await other.close()
    return writer
  }
})

describe('a session whose flushes are not waited for one by one', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('is committed once in two turns of the event loop at most', async () => {
    const append = vi.spyOn(SqliteWriter.prototype, 'append')
    const persistence = createPersistence(storage)
    const session = await persistence.create({ id: 's' })
    const flushes: Promise<unknown>[] = []
    const turns = 50
    for (let turn = 0; turn < turns; turn++) {
      for (let event = 0; event < 4; event++) {
        session.append('session/title', { title: `${turn}-${event}` })
        flushes.push(session.flush())
      }
      await new Promise(setImmediate)
    }
    await Promise.all(flushes)
    // The first batch has one event, and opens the database.
    expect(append.mock.calls.length).toBeLessThanOrEqual(turns / 2 + 2)
    await session.close()
    await persistence.close()
    expect(await readAll(sqliteStorage({ file }), 's')).toHaveLength(turns * 4)
  })
})

describe('a writer whose database is not the one that it opened', () => {
  it.each(['sessions.db', 'sessions.db-wal'])(
    'because %s was removed is CONFLICT, and nothing is made',
    async (name) => {
      const writer = await create('s')
      await writer.append(notes(2))
      await rm(join(file, '..', name))
      await expect(writer.append(notes(1, 2))).rejects.toMatchObject({ code: 'CONFLICT' })
      await expect(writer.append(notes(1, 2))).rejects.toMatchObject({ code: 'CONFLICT' })
      await closeAll(writer)
    },
  )
})

it('the write-ahead log stays small while one event after the other is appended', async () => {
  const writer = await create('s')
  let largest = 0
  for (let seq = 0; seq < 1500; seq++) {
    await writer.append([note(seq)])
    largest = Math.max(largest, statSync(`${file}-wal`).size)
  }
  // Twice the pages between checkpoints, each with its header.
  expect(largest).toBeLessThan(2 * 250 * 4120)
  await closeAll(writer)
})

it('what a creation left that was killed is removed', async () => {
  const left = ['', '-wal', '-journal'].map((suffix) => `${file}.tmp-0123456789abcdef${suffix}`)
  const other = `${file}.tmp-notes`
  for (const path of [...left, other]) writeFileSync(path, '')
  const writer = await create('s')
  await writer.append(notes(1))
  await closeAll(writer)
  storage = sqliteStorage({ file })
  for (const path of left) {
    expect(existsSync(path)).toBe(false)
    writeFileSync(path, '')
  }
  await store(storage, 'more', [notes(1)])
  expect([...left, other].map((path) => existsSync(path))).toEqual([false, false, false, true])
  await storage.close()
})

it('a batch of no events is nothing', async () => {
  const writer = await create('s')
  await writer.append([])
  expect(await storage.list({ limit: 1 })).toEqual([])
  await closeAll(writer)
})

it('a batch with a gap is INVARIANT, and nothing is stored', async () => {
  const writer = await create('s')
  await expect(writer.append([note(0), note(2)])).rejects.toMatchObject({ code: 'INVARIANT' })
  await expect(storage.openReader('s')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await closeAll(writer)
})
