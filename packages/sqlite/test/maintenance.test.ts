// Proves that a backup is whole while sessions are written, and that compacting gives space back and changes no event.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { backupSqlite, compactSqlite, openSqlite, sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { chunk, notes, readAll, SAMPLE_EVENTS, sampleHeader, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

let file = ''

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
})

describe('a backup', () => {
  it('holds what was acknowledged, the log included, and needs no other file', async () => {
    const storage = sqliteStorage({ file })
    await store(storage, 's')
    const writer = await storage.openWriter('open', { kind: 'create', header: sampleHeader('open') })
    await writer.append(notes(5))
    const to = join(dirname(file), 'backup.db')
    const report = await backupSqlite({ file, to })
    expect(report).toEqual({ file: to, bytes: (await stat(to)).size })
    await writer.append(notes(1, 5))
    await writer.close()
    await storage.close()
    const copy = sqliteStorage({ file: to })
    expect(await readAll(copy, 's')).toEqual(SAMPLE_EVENTS)
    expect(await readAll(copy, 'open')).toEqual(notes(5))
    await copy.close()
    expect((await readdir(dirname(file))).sort()).toEqual(['backup.db', 'sessions.db', 'sessions.db.locks'])
  })

  it('of nothing is NOT_FOUND; onto something is ALREADY_EXISTS; of a damaged database is CORRUPT', async () => {
    const to = join(dirname(file), 'backup.db')
    await expect(backupSqlite({ file, to })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const storage = sqliteStorage({ file })
    await store(storage, 's', [notes(2000)])
    await storage.close()
    await expect(backupSqlite({ file, to: file })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
    const bytes = await readFile(file)
    await writeFile(file, bytes.fill(0, 6 * 4096, 7 * 4096))
    await expect(backupSqlite({ file, to })).rejects.toMatchObject({ code: 'CORRUPT' })
    expect((await readdir(dirname(file))).sort()).toEqual(['sessions.db', 'sessions.db.locks'])
  })
})

describe('compacting', () => {
  it('packs what was written chunk by chunk, returns space, and changes no event and no receipt', async () => {
    const persistence = await openSqlite({ file })
    const session = await persistence.create({ id: 's' })
    session.append('turn/start', { turn: 1 })
    session.append('step/start', { turn: 1, step: 1 })
    for (let at = 0; at < 400; at++) {
      session.append('assistant/chunk', { turn: 1, step: 1, kind: 'text', index: 0, text: `word ${at} ` })
      await session.flush()
    }
    session.append('session/title', { title: 'after the chunks' })
    await session.close()
    await (await persistence.fork('s', { before: 0, id: 'gone' })).close()
    await persistence.delete('gone')
    const before = [await persistence.verify('s'), await readAllOf(persistence, 's')] as const
    await persistence.close()
    const report = await compactSqlite({ file })
    expect(report).toMatchObject({ open: 0, damaged: 0 })
    expect(report.repacked).toBeGreaterThan(390)
    expect(report.after).toBeLessThan(report.before)
    expect((await stat(file)).size).toBe(report.after)
    const again = await openSqlite({ file })
    const verified = await again.verify('s', { expectHead: before[0].head })
    expect([verified.ok, verified.events, verified.head]).toEqual([true, before[0].events, before[0].head])
    expect(await readAllOf(again, 's')).toEqual(before[1])
    await again.close()
    expect((await compactSqlite({ file })).repacked).toBe(0)
  })

  it('leaves sessions that are being written alone, and sweeps what dead ones left', async () => {
    const storage = sqliteStorage({ file })
    const chunks = Array.from({ length: 40 }, (_, seq) => [chunk(seq, `t${seq}`)])
    const open = await storage.openWriter('open', { kind: 'create', header: sampleHeader('open') })
    for (const batch of chunks) await open.append(batch)
    await store(storage, 'dead', chunks)
    await store(storage, 'damaged', chunks)
    {
      using raw = new RawDatabase(file)
      raw.exec("UPDATE session SET place = '.staged' WHERE number = 2")
      raw.exec('UPDATE record SET time = time + 1 WHERE key = (3 << 32) + 20')
    }
    expect(await compactSqlite({ file })).toMatchObject({ open: 1, damaged: 1 })
    await open.append([chunk(40, 'more')])
    await open.close()
    expect(await readAll(storage, 'open')).toEqual([...chunks.flat(), chunk(40, 'more')])
    await storage.close()
    using raw = new RawDatabase(file)
    expect(raw.rows('SELECT number FROM session ORDER BY number')).toEqual([[1], [3]])
    expect(raw.value('SELECT count(*) FROM record WHERE key >> 32 = 2')).toBe(0)
  })
})

async function readAllOf(persistence: Awaited<ReturnType<typeof openSqlite>>, id: string): Promise<readonly unknown[]> {
  const events: unknown[] = []
  for await (const event of persistence.read(id)) events.push(event)
  return events
}
