// Proves that a listing is complete and ordered whatever is damaged, and that an index gives its order.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { StorageListEntry, StorageListQuery } from '@session-persistence/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { note, notes, SAMPLE_TIME, sampleHeader, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

let file = ''
let storage: ReturnType<typeof sqliteStorage>

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
  storage = sqliteStorage({ file })
})

/** All pages. */
async function listAll(query: StorageListQuery): Promise<readonly StorageListEntry[]> {
  const entries: StorageListEntry[] = []
  for (let after = query.after; ; ) {
    const page = await storage.list({ ...query, ...(after === undefined ? {} : { after }) })
    entries.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < query.limit) return entries
    after = { updatedAt: last.updatedAt, id: last.id }
  }
}

async function damage(sql: string): Promise<void> {
  await storage.close()
  {
    using raw = new RawDatabase(file)
    raw.allowAnything()
    raw.exec(sql)
  }
  storage = sqliteStorage({ file })
}

const number = (id: string): string => `(SELECT session FROM header WHERE header ->> '$.id' = '${id}')`

describe('1,001 sessions of the same time', () => {
  it.each([1, 7, 100, 1000, 2000])(
    'are listed once each, in order of id, in pages of %i',
    { timeout: 60_000 },
    async (limit) => {
      const ids = Array.from({ length: 1001 }, (_, index) => `${index % 2 === 0 ? 'a' : 'B'}${index}`)
      const writers = await Promise.all(
        ids.map((id) => storage.openWriter(id, { kind: 'create', header: sampleHeader(id) })),
      )
      await Promise.all(writers.map((writer) => writer.append([note(0)])))
      await Promise.all(writers.map((writer) => writer.close()))
      expect((await listAll({ limit })).map(({ id }) => id)).toEqual([...ids].sort())
      await storage.close()
    },
  )
})

describe('a listing', () => {
  beforeEach(async () => {
    for (const [id, count] of [
      ['a', 3],
      ['b', 1],
      ['c', 2],
      ['d', 4],
    ] as const)
      await store(storage, id, [notes(count)])
  })

  it('is newest first, and tells events, time and header', async () => {
    expect(await storage.list({ limit: 10 })).toMatchObject([
      { id: 'd', state: 'ready', events: 4, updatedAt: SAMPLE_TIME + 3, header: sampleHeader('d') },
      { id: 'a', events: 3 },
      { id: 'c', events: 2 },
      { id: 'b', events: 1 },
    ])
    await storage.close()
  })

  it('shows damaged and newer sessions last, with their error, and every other one as before', async () => {
    await damage(
      `UPDATE session SET bytes = bytes + 1 WHERE number = ${number('d')}; UPDATE header SET header = replace(header, 'plain', 'plane') WHERE session = ${number('c')}`,
    )
    for (const limit of [1, 2, 3, 10]) {
      const entries = await listAll({ limit })
      expect(entries.map(({ id, state, error }) => [id, state, error?.code])).toEqual([
        ['a', 'ready', undefined],
        ['b', 'ready', undefined],
        ['c', 'damaged', 'CORRUPT'],
        ['d', 'damaged', 'CORRUPT'],
      ])
    }
    await expect(storage.openReader('d')).rejects.toMatchObject({ code: 'CORRUPT', path: file })
    await store(storage, 'e', [notes(1)])
    expect(await storage.delete('d')).toBe(true)
    expect((await listAll({ limit: 10 })).map(({ id }) => id)).toEqual(['a', 'b', 'e', 'c'])
    await storage.close()
  })

  it('is whole where the index leaves a session out', async () => {
    await damage(
      "DROP INDEX session_by_time; CREATE INDEX session_by_time ON session (updated_at DESC, id) WHERE place = '' AND number > 1; UPDATE sqlite_schema SET sql = replace(sql, ' AND number > 1', '') WHERE name = 'session_by_time'",
    )
    const whole = await storage.list({ limit: 10 })
    expect(whole.map(({ id, state }) => [id, state])).toEqual([
      ['d', 'ready'],
      ['a', 'ready'],
      ['c', 'ready'],
      ['b', 'ready'],
    ])
    // Found at the end of the pages, when the one that was left out would have been shown before.
    await expect(listAll({ limit: 1 })).rejects.toMatchObject({ code: 'CORRUPT', path: file })
    await storage.close()
  })

  it('is not needed to notice that the index of ids leaves a session out', async () => {
    await damage(
      "DROP INDEX session_by_id; CREATE UNIQUE INDEX session_by_id ON session (id, place) WHERE number > 1; UPDATE sqlite_schema SET sql = replace(sql, ' WHERE number > 1', '') WHERE name = 'session_by_id'",
    )
    for (const call of [() => storage.openWriter('a', { kind: 'resume' }), () => storage.delete('a')]) {
      await expect(call()).rejects.toMatchObject({ code: 'CORRUPT', path: file })
    }
    expect((await storage.check('a')).problems).toMatchObject([{ code: 'CORRUPT' }])
    await storage.close()
  })

  it('sorts nothing and reads its order from an index alone', async () => {
    await storage.close()
    using raw = new RawDatabase(file)
    const order = 'ORDER BY updated_at DESC, id LIMIT 5'
    for (const where of ['', ' AND updated_at < 5', " AND updated_at = 5 AND id > x'00'"]) {
      const sql = `SELECT updated_at, id, number FROM session INDEXED BY session_by_time WHERE place = ''${where} ${order}`
      const plan = raw.rows(`EXPLAIN QUERY PLAN ${sql}`).map((row) => String(row[3]))
      expect(plan).toHaveLength(1)
      expect(plan[0]).toMatch(/USING COVERING INDEX session_by_time/)
    }
  })
})

it('the listing of a database that was never made is empty, and makes nothing', async () => {
  expect(await storage.list({ limit: 10 })).toEqual([])
  await expect(storage.openReader('s')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await storage.delete('s')).toBe(false)
  await storage.close()
  expect(await readdir(join(file, '..'))).toEqual([])
})
