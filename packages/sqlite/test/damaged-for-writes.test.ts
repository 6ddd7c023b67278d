// Proves that damage which only a write would find is told: a check notes it where it is of the table of sessions, and a
// repair of a session that is whole builds the index anew, or says that nothing can be appended to it.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSessionError, type SessionPersistence } from '@session-persistence/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { openSqlite, sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { notes, readAll, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const PAGE = 4096
/** Where the head of a page says where its first free block lies. */
const FREE_BLOCK = 1
/** Where it says how many cells the page has; behind the head of a leaf stands where each lies. */
const CELLS = 3
const LEAF_HEAD = 8
const IDS = Array.from({ length: 30 }, (_, at) => `session-${String(at).padStart(2, '0')}`)
const LAST = IDS.at(-1) ?? ''

let file = ''
beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  for (const id of IDS) await store(storage, id, [notes(20)])
  await storage.close()
})

/** The page of a table or index in which the newest of its rows lie. */
async function damage(name: string): Promise<void> {
  let page: number
  {
    using raw = new RawDatabase(file)
    const sql = "SELECT max(pageno) FROM dbstat WHERE name = ? AND pagetype = 'leaf'"
    page = Number(raw.value(sql, name))
  }
  const bytes = await readFile(file)
  bytes.writeUInt16BE(4, (page - 1) * PAGE + FREE_BLOCK)
  await writeFile(file, bytes)
}

async function appendTo(persistence: SessionPersistence, id: string): Promise<unknown> {
  const session = await persistence.resume(id)
  session.append('session/title', { title: 'on' })
  try {
    await session.flush()
    return 'appended'
  } catch (error) {
    return error
  } finally {
    await session.abandon()
  }
}

/** Some pages of events, each longer than the one before. */
async function continueFor(persistence: SessionPersistence, id: string): Promise<void> {
  await using session = await persistence.resume(id)
  for (let words = 0; words < 40; words++) {
    session.append('session/title', { title: 'on and '.repeat(words) })
    await session.flush()
  }
}

function leavesOf(name: string): readonly number[] {
  using raw = new RawDatabase(file)
  return raw
    .rows("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno", name)
    .map(([page]) => Number(page))
}

async function whole(): Promise<void> {
  const storage = sqliteStorage({ file })
  for (const id of IDS) expect((await readAll(storage, id)).slice(0, 20)).toEqual(notes(20))
  await storage.close()
}

describe.each(['session', 'session_by_time'])('%s', (name) => {
  it('is noted by the check of a session that is whole', async () => {
    await damage(name)
    const persistence = await openSqlite({ file })
    for (const id of IDS) {
      const { ok, notes } = await persistence.verify(id)
      expect(ok).toBe(true)
      expect(notes).toEqual([expect.stringMatching(/table of sessions or an index of it is damaged/)])
    }
    await persistence.close()
  })
})

it('an index refuses appends until a repair has built it anew', async () => {
  await damage('session_by_time')
  const persistence = await openSqlite({ file })
  expect(isSessionError(await appendTo(persistence, LAST), 'CORRUPT')).toBe(true)
  const before = await readFile(file)
  expect(await persistence.repair(LAST)).toMatchObject({ kept: 20, lost: [] })
  expect(before.equals(await readFile(file))).toBe(true)
  expect(await persistence.repair(LAST, { dryRun: false })).toMatchObject({ kept: 20, lost: [] })
  for (const id of IDS) {
    expect(await appendTo(persistence, id)).toBe('appended')
    expect((await persistence.verify(id)).notes).toEqual([])
  }
  await persistence.close()
  await whole()
})

it('a table whose rows stand where nothing can be added: a repair says so, and so does its dry run', async () => {
  await damage('record')
  const persistence = await openSqlite({ file })
  const message = expect.stringMatching(/nothing is written into it: convert/) as string
  expect((await persistence.verify(LAST)).ok).toBe(true)
  expect(isSessionError(await appendTo(persistence, LAST), 'CORRUPT')).toBe(true)
  expect((await persistence.repair(LAST)).lost).toEqual([{ message }])
  await expect(persistence.repair(LAST, { dryRun: false })).rejects.toMatchObject({ code: 'CORRUPT', message })
  await persistence.close()
  await whole()
})

it('a session whose pages are sound is not spoken of', async () => {
  await damage('record')
  const persistence = await openSqlite({ file })
  const [first = ''] = IDS
  expect(await persistence.repair(first)).toMatchObject({ kept: 20, lost: [] })
  expect(await persistence.repair(first, { dryRun: false })).toMatchObject({ kept: 20, lost: [] })
  expect(await appendTo(persistence, first)).toBe('appended')
  await persistence.close()
  await whole()
})

it('what another session has on the same page is met before it is full: repaired is to be continued', async () => {
  const leaves = leavesOf('record')
  expect(leaves.length).toBeGreaterThan(10)
  const sound = await readFile(file)
  const told = { refused: 0, continued: 0 }
  for (const page of leaves.slice(0, 5)) {
    const bytes = Buffer.from(sound)
    const head = (page - 1) * PAGE
    // Where its last cell lies, which is another session's wherever a session ends on the page.
    bytes.writeUInt8(0x7f, head + LEAF_HEAD + 2 * (bytes.readUInt16BE(head + CELLS) - 1))
    await writeFile(file, bytes)
    const persistence = await openSqlite({ file })
    for (const id of IDS) {
      if (!(await persistence.verify(id)).ok) continue
      const repaired = await persistence.repair(id, { dryRun: false }).catch((error: unknown) => error)
      if (isSessionError(repaired, 'CORRUPT')) told.refused++
      else {
        told.continued++
        await continueFor(persistence, id)
      }
    }
    await persistence.close()
  }
  expect(told.refused).toBeGreaterThan(0)
  expect(told.continued).toBeGreaterThan(100)
})

it('the trial leaves nothing behind', async () => {
  const persistence = await openSqlite({ file })
  const before = await persistence.verify(LAST)
  expect(await persistence.repair(LAST, { dryRun: false })).toEqual({ id: LAST, dryRun: false, kept: 20, lost: [] })
  expect(await persistence.verify(LAST)).toEqual(before)
  await persistence.close()
  await whole()
})
