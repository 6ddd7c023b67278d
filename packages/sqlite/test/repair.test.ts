// Proves that a repair keeps every record that can be proven and the damaged original, and says what is lost.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { ASKED, BEGUN } from '../../jsonl/test/parts/asked-for-a-call.ts'
import { openSqlite, sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { note, notes, readAll, SAMPLE_TIME, sampleHeader, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

let file = ''

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  await store(storage, 's', [notes(10)])
  await store(storage, 'other', [notes(3)])
  await storage.close()
})

function damage(sql: string): void {
  using raw = new RawDatabase(file)
  raw.exec(sql)
}

it('a sound log is left as it is', async () => {
  const persistence = await openSqlite({ file })
  expect(await persistence.repair('s', { dryRun: false })).toEqual({ id: 's', dryRun: false, kept: 10, lost: [] })
  await persistence.close()
})

it('a damaged record becomes an empty one, and everything behind keeps its seq', async () => {
  damage('UPDATE record SET time = time + 1 WHERE key IN ((1 << 32) + 4, (1 << 32) + 5, (1 << 32) + 9)')
  const persistence = await openSqlite({ file })
  const before = await readFile(file)
  const plan = await persistence.repair('s')
  expect(plan).toMatchObject({
    dryRun: true,
    kept: 9,
    lost: [
      { from: 4, to: 5 },
      { from: 9, to: 9 },
    ],
  })
  expect(before.equals(await readFile(file))).toBe(true)
  const done = await persistence.repair('s', { dryRun: false })
  expect(done).toMatchObject({ dryRun: false, kept: 9, lost: plan.lost, originalAt: expect.any(String) as string })
  expect((await persistence.verify('s')).ok).toBe(true)
  await (await persistence.resume('s')).close()
  await persistence.close()
  expect(done.originalAt).toBe(`${file} (session number 1, to be read with SQL)`)
  const storage = sqliteStorage({ file })
  const lost = (seq: number) => ({
    seq,
    time: SAMPLE_TIME + 3,
    type: 'session-persistence/lost',
    data: {},
    ignorable: true,
  })
  expect(await readAll(storage, 's')).toEqual([...notes(4), lost(4), lost(5), note(6), note(7), note(8)])
  expect(await readAll(storage, 'other')).toEqual(notes(3))
  await storage.close()
  using raw = new RawDatabase(file)
  // As docs/formats/sqlite.md says how an original is found and read.
  const kept = raw.rows("SELECT number, place FROM session WHERE place NOT IN ('', '.staged', '.deleted')")
  expect(kept).toEqual([[1, 'damaged']])
  const records =
    'SELECT key & 4294967295 AS seq, time FROM record WHERE key BETWEEN 1 << 32 AND (2 << 32) - 1 ORDER BY key'
  const changed = new Set([4, 5, 9])
  expect(raw.rows(records)).toEqual(notes(10).map(({ seq, time }) => [seq, changed.has(seq) ? time + 1 : time]))
})

it('a lost start of a step is made again, and everything behind it stays', async () => {
  const persistence = await openSqlite({ file })
  const session = await persistence.create({ id: 'turns' })
  for (let turn = 1; turn <= 3; turn++) {
    session.append('turn/start', { turn })
    session.append('step/start', { turn, step: 1 })
    session.append('assistant/message', { turn, step: 1, message: { role: 'assistant', content: 'a' }, toolCalls: [] })
    session.append('step/end', { turn, step: 1 })
    session.append('turn/end', { turn, reason: { kind: 'completed' } })
  }
  await session.close()
  const stored = await readAll(sqliteStorage({ file }), 'turns')
  damage("UPDATE record SET crc = crc + 1 WHERE key & 4294967295 = 6 AND type = 'step/start'")
  const report = await persistence.repair('turns', { dryRun: false })
  expect(report).toMatchObject({
    kept: 15,
    lost: [
      { from: 6, to: 6 },
      { from: 6, to: 6 },
    ],
  })
  const time = stored[5]?.time
  expect(await readAll(sqliteStorage({ file }), 'turns')).toEqual(
    stored.map((event) => (event.seq === 6 ? { ...event, time } : event)),
  )
  await persistence.close()
})

it('a damaged header and a damaged row are made anew from what the records prove', async () => {
  damage("UPDATE session SET next_seq = 7 WHERE number = 1; UPDATE header SET header = 'x' WHERE session = 1")
  const persistence = await openSqlite({ file })
  const report = await persistence.repair('s', { dryRun: false })
  expect(report.kept).toBe(10)
  expect(report.lost.map(({ message }) => message)).toEqual([
    expect.stringMatching(/cannot be told: the session's row is damaged/),
    expect.stringMatching(/fields of it are lost: createdAt \(.*\), messageFormat \("plain" is taken for it\)$/),
    expect.stringMatching(/cannot be told: cwd, parent, seedLength, origin, labels$/),
  ])
  await persistence.close()
  const storage = sqliteStorage({ file })
  const reader = await storage.openReader('s')
  const { messageFormat, createdAt } = sampleHeader('s')
  expect(reader.header).toEqual({ version: 1, id: 's', createdAt, messageFormat })
  expect(await readAll(storage, 's')).toEqual(notes(10))
  await storage.close()
})

it('a header that its checksum does not prove is kept, and it is said that nothing proves it', async () => {
  damage(`UPDATE header SET header = replace(header, '"plain"', '"plaim"') WHERE session = 1`)
  const persistence = await openSqlite({ file })
  const report = await persistence.repair('s', { dryRun: false })
  expect(report.kept).toBe(10)
  expect(report.lost.map(({ message }) => message)).toEqual([
    expect.stringMatching(/could not be proven: createdAt, messageFormat/),
    expect.stringMatching(/"plaim": perhaps the name itself is damaged/),
  ])
  expect((await persistence.inspect('s')).header).toEqual({ ...sampleHeader('s'), messageFormat: 'plaim' })
  await persistence.close()
})

it('a lost end of a log whose row is damaged is not passed over', async () => {
  damage(
    'DELETE FROM record WHERE key >= (1 << 32) + 6 AND key < (2 << 32); UPDATE session SET crc = 1 WHERE number = 1',
  )
  const persistence = await openSqlite({ file })
  const plan = await persistence.repair('s')
  expect(plan.kept).toBe(6)
  expect(plan.lost).toEqual([{ message: expect.stringMatching(/behind seq 5 cannot be told/) as string }])
  await persistence.close()
})

it.each([
  ['is damaged', 'UPDATE record SET crc = crc + 1 WHERE key = (3 << 32) + 4'],
  ['is gone', 'DELETE FROM record WHERE key = (3 << 32) + 4'],
  ['may be gone', 'DELETE FROM record WHERE key = (3 << 32) + 4; UPDATE session SET crc = 1 WHERE number = 3'],
])('where the start of a call at the end %s, the call is not called safe to run', async (_, sql) => {
  const storage = sqliteStorage({ file })
  await store(storage, 'calls', [ASKED, BEGUN])
  await storage.close()
  damage(sql)
  const persistence = await openSqlite({ file })
  const plan = await persistence.repair('calls')
  const done = await persistence.repair('calls', { dryRun: false })
  expect([done.kept, done.lost]).toEqual([plan.kept, plan.lost])
  expect(done.kept).toBe(ASKED.length + 1)
  const session = await persistence.resume('calls')
  expect(session.recovery?.openCalls).toMatchObject([{ callId: 'a', tier: 'outcome-unknown' }])
  await session.close()
  await persistence.close()
})

it('a call that nothing was lost behind stays safe to run', async () => {
  const storage = sqliteStorage({ file })
  await store(storage, 'calls', [ASKED])
  await storage.close()
  damage('UPDATE record SET crc = crc + 1 WHERE key = (3 << 32) + 1')
  const persistence = await openSqlite({ file })
  expect(await persistence.repair('calls', { dryRun: false })).toMatchObject({ kept: ASKED.length })
  expect((await persistence.inspect('calls')).openCalls()).toMatchObject([{ callId: 'a', tier: 'not-started' }])
  await persistence.close()
})

it('nothing that can be proven is CORRUPT, and nothing is written', async () => {
  damage('UPDATE session SET salt = salt + 1 WHERE number = 1')
  const persistence = await openSqlite({ file })
  const before = await readFile(file)
  await expect(persistence.repair('s', { dryRun: false })).rejects.toMatchObject({ code: 'CORRUPT', sessionId: 's' })
  expect(before.equals(await readFile(file))).toBe(true)
  await persistence.close()
})

it('damaged pages are reported in a dry run, and nothing is written into them', async () => {
  const storage = sqliteStorage({ file })
  await store(storage, 'long', [notes(2000)])
  await storage.close()
  const bytes = await readFile(file)
  const at = bytes.lastIndexOf('note 1500')
  const page = Math.floor(at / 4096)
  await writeFile(file, bytes.fill(0, page * 4096, (page + 1) * 4096))
  const persistence = await openSqlite({ file })
  const plan = await persistence.repair('long')
  expect(plan.kept).toBeGreaterThan(0)
  expect(plan.kept).toBeLessThan(1501)
  expect(plan.lost.at(-1)?.message).toMatch(/nothing is written into it/)
  await expect(persistence.repair('long', { dryRun: false })).rejects.toMatchObject({ code: 'CORRUPT' })
  expect(await readFile(file).then((now) => now.equals(bytes))).toBe(true)
  await persistence.close()
})

it('a session that is not there is NOT_FOUND; one that is open is LOCKED', async () => {
  const storage = sqliteStorage({ file })
  const writer = await storage.openWriter('s', { kind: 'resume' })
  const persistence = await openSqlite({ file })
  await expect(persistence.repair('missing')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(persistence.repair('s', { dryRun: false })).rejects.toMatchObject({ code: 'LOCKED' })
  await writer.close()
  await storage.close()
  await persistence.close()
})
