// Proves that what another SQL client deletes or changes is noticed, costs its own session only, and is never written
// over.
import { join } from 'node:path'
import { isSessionError } from '@session-persistence/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { openSqlite, sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { errorOf, note, notes, readAll, sampleHeader, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

let file = ''

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
})

const EVENTS = 10
/** `s` is stored first, so its keys start at 1 * 2^32. */
const SEQ_0 = 2 ** 32

function change(sql: string): void {
  using raw = new RawDatabase(file)
  expect(raw.run(sql)).toBeGreaterThan(0)
}

/** Every row of the session, as the tables hold them. */
function rowsOfS(): string {
  using raw = new RawDatabase(file)
  return JSON.stringify([
    raw.rows('SELECT * FROM session WHERE number = 1'),
    raw.rows('SELECT * FROM header WHERE session = 1'),
    raw.rows(`SELECT * FROM record WHERE key BETWEEN ${SEQ_0} AND ${2 * SEQ_0 - 1}`),
  ])
}

/** The neighbour is read, listed, resumed and continued as if nothing had happened. */
async function expectNeighbourUnaffected(): Promise<void> {
  const persistence = await openSqlite({ file })
  const { sessions } = await persistence.list()
  const { id, state } = sessions.find((entry) => entry.id === 'other') ?? {}
  expect([id, state]).toEqual(['other', 'ready'])
  const session = await persistence.resume('other')
  session.append('session/title', { title: 'still here' })
  await session.close()
  expect((await persistence.verify('other')).ok).toBe(true)
  await persistence.close()
  const storage = sqliteStorage({ file })
  expect((await readAll(storage, 'other')).slice(0, 3)).toEqual(notes(3))
  await storage.close()
}

async function codeOf(call: () => unknown): Promise<string> {
  const error = await errorOf(call)
  if (!isSessionError(error)) throw error
  return error.code
}

describe('rows of a session that nobody has open', () => {
  beforeEach(async () => {
    const storage = sqliteStorage({ file })
    await store(storage, 's', [notes(EVENTS)])
    await store(storage, 'other', [notes(3)])
    await storage.close()
  })

  it.each([
    ['the first record deleted', `DELETE FROM record WHERE key = ${SEQ_0}`],
    ['a record in the middle deleted', `DELETE FROM record WHERE key = ${SEQ_0 + 4}`],
    ['the last record deleted', `DELETE FROM record WHERE key = ${SEQ_0 + EVENTS - 1}`],
    ['every record deleted', `DELETE FROM record WHERE key < ${2 * SEQ_0}`],
    ['a text changed', `UPDATE record SET data = '{"text":"forged"}' WHERE key = ${SEQ_0 + 4}`],
    ['a time changed', `UPDATE record SET time = time + 1 WHERE key = ${SEQ_0 + EVENTS - 1}`],
    ['a record moved', `UPDATE record SET key = key + 1 WHERE key = ${SEQ_0 + EVENTS - 1}`],
    [
      'a record of another session in its place',
      `UPDATE record SET (time, type, events, data, extra, crc) = (SELECT time, type, events, data, extra, crc FROM record WHERE key = ${2 * SEQ_0 + 1}) WHERE key = ${SEQ_0 + 1}`,
    ],
    ['the header deleted', 'DELETE FROM header WHERE session = 1'],
    [
      'the header of another session',
      'UPDATE header SET (header, crc) = (SELECT header, crc FROM header WHERE session = 2) WHERE session = 1',
    ],
    ['the end moved back', 'UPDATE session SET next_seq = next_seq - 1 WHERE number = 1'],
    ['the end moved on', 'UPDATE session SET next_seq = next_seq + 1 WHERE number = 1'],
  ])('%s: CORRUPT on every way, and not a row is changed', async (_, sql) => {
    change(sql)
    const before = rowsOfS()
    const persistence = await openSqlite({ file })
    expect(await codeOf(() => persistence.resume('s'))).toBe('CORRUPT')
    expect(
      await codeOf(async () => {
        for await (const _event of persistence.read('s')) {
          // Whatever comes before the damage.
        }
      }),
    ).toBe('CORRUPT')
    expect(await codeOf(() => persistence.fork('s', { id: 'copy' }))).toBe('CORRUPT')
    const report = await persistence.verify('s')
    expect([report.ok, report.problems[0]?.code]).toEqual([false, 'CORRUPT'])
    await persistence.close()
    expect(rowsOfS()).toBe(before)
    await expectNeighbourUnaffected()
    expect(rowsOfS()).toBe(before)
  })

  it('all deleted: NOT_FOUND, and the id is free', async () => {
    change('DELETE FROM session WHERE number = 1')
    const storage = sqliteStorage({ file })
    expect(await codeOf(() => storage.openReader('s'))).toBe('NOT_FOUND')
    expect(await codeOf(() => storage.openWriter('s', { kind: 'resume' }))).toBe('NOT_FOUND')
    expect(await storage.delete('s')).toBe(false)
    await store(storage, 's', [notes(2)])
    expect(await readAll(storage, 's')).toEqual(notes(2))
    await storage.close()
    await expectNeighbourUnaffected()
  })

  it('damaged can be deleted, and the id is free', async () => {
    change('DELETE FROM header WHERE session = 1')
    change('UPDATE session SET next_seq = 3 WHERE number = 1')
    const storage = sqliteStorage({ file })
    expect(await storage.delete('s')).toBe(true)
    await store(storage, 's', [notes(2)])
    expect(await readAll(storage, 's')).toEqual(notes(2))
    await storage.close()
    await expectNeighbourUnaffected()
  })
})

describe('rows under an open writer', () => {
  it.each([
    ['the session deleted', 'DELETE FROM session WHERE number = 1'],
    ['the end moved back', 'UPDATE session SET next_seq = next_seq - 1 WHERE number = 1'],
    ['another salt', 'UPDATE session SET salt = salt + 1 WHERE number = 1'],
    [
      'a record behind the end',
      `INSERT INTO record SELECT key + 1, time, type, events, data, extra, crc FROM record WHERE key = ${SEQ_0 + EVENTS - 1}`,
    ],
  ])('%s: the next batch is refused, nothing is added, and the writer of another session goes on', async (_, sql) => {
    const storage = sqliteStorage({ file })
    const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
    await writer.append(notes(EVENTS))
    const other = await storage.openWriter('other', { kind: 'create', header: sampleHeader('other') })
    await other.append(notes(3))
    change(sql)
    const before = rowsOfS()
    // Both wait in one turn, and share a transaction.
    const [refused, stored] = await Promise.allSettled([writer.append([note(EVENTS)]), other.append([note(3)])])
    expect(refused).toMatchObject({
      status: 'rejected',
      reason: { code: expect.stringMatching(/^(?:CONFLICT|CORRUPT)$/) as string },
    })
    expect(stored.status).toBe('fulfilled')
    expect(rowsOfS()).toBe(before)
    await writer.close()
    await other.close()
    expect(await readAll(storage, 'other')).toEqual(notes(4))
    await storage.close()
  })
})
