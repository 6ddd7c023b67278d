// Proves that damage of an index stays there: every session is listed, read, checked and found all the same, the check
// says so, and compacting or a repair builds the index anew; and that an index which knows a lost row is not thrown away.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { StorageListKey } from '@session-persistence/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { backupSqlite, compactSqlite, openSqlite, sqliteStorage } from '../src/index.ts'
import { encodeId } from '../src/session-row.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { notes, readAll, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const IDS = Array.from({ length: 300 }, (_, at) => `session-${String(at).padStart(4, '0')}-of-many`)
const PAGE = 4096
let file = ''

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  for (const id of IDS) await store(storage, id, [notes(2)])
  await storage.close()
})

type Damage = (page: Buffer, key: Buffer) => void

const bit: Damage = (page, key) => {
  const at = page.indexOf(key) + 21
  page[at] = (page[at] ?? 0) ^ 1
}
const zeros: Damage = (page) => page.fill(0)

/** Damages the first leaf of an index that holds the id. */
async function damage(index: string, id: string, change: Damage): Promise<void> {
  const bytes = await readFile(file)
  let root: number
  {
    using raw = new RawDatabase(file)
    root = Number(raw.value('SELECT rootpage FROM sqlite_schema WHERE name = ?', index))
  }
  const key = encodeId(id)
  const leaf = leaves(bytes, root).find((page) => page.includes(key))
  if (leaf === undefined) throw new Error('the id is in no leaf of the index')
  change(leaf, key)
  await writeFile(file, bytes)
}

/** Every page of an index, its root first. */
function leaves(bytes: Buffer, root: number): readonly Buffer[] {
  const page = bytes.subarray((root - 1) * PAGE, root * PAGE)
  if (page[0] !== 2) return [page]
  const cells = Array.from({ length: page.readUInt16BE(3) }, (_, at) => page.readUInt16BE(12 + 2 * at))
  const children = [...cells.map((cell) => page.readUInt32BE(cell)), page.readUInt32BE(8)]
  return children.flatMap((child) => leaves(bytes, child))
}

describe.each([
  ['session_by_id', 'a flipped bit', bit],
  ['session_by_id', 'a page of zeros', zeros],
  ['session_by_time', 'a flipped bit', bit],
  ['session_by_time', 'a page of zeros', zeros],
] as const)('the index %s with %s', (index, _, change) => {
  const victim = 'session-0150-of-many'

  beforeEach(async () => damage(index, victim, change))

  it('hides no session from a listing, a page at a time', async () => {
    const storage = sqliteStorage({ file })
    const ids: string[] = []
    for (let after: StorageListKey | undefined; ; ) {
      const page = await storage.list({ limit: 70, ...(after === undefined ? {} : { after }) })
      for (const { id, state } of page) ids.push(`${id} ${state}`)
      const last = page.at(-1)
      if (last === undefined) break
      after = { id: last.id, updatedAt: last.updatedAt }
    }
    expect(ids).toEqual(IDS.map((id) => `${id} ready`))
    await storage.close()
  })

  it('is what a check tells, of sessions that read as before', async () => {
    const storage = sqliteStorage({ file })
    const told: string[] = []
    for (const id of IDS) {
      expect(await readAll(storage, id)).toEqual(notes(2))
      const { events, problems } = await storage.check(id)
      expect(events).toBe(2)
      if (problems.length > 0) told.push(id)
      for (const { message } of problems) expect(message).toMatch(/compacting the database builds it anew/)
    }
    expect(told).toContain(victim)
    // The changed entry has the id of its neighbour now.
    if (change === bit) expect(told).toEqual(['session-0149-of-many', victim])
    await storage.close()
  })

  // SQLite cannot take unreadable pages away: then the sessions go into another database.
  it('stops a backup, and is built anew by compacting, or nothing is written', async () => {
    const to = join(file, '..', 'backup.db')
    const message = expect.stringMatching(/compacting/) as string
    await expect(backupSqlite({ file, to })).rejects.toMatchObject({ code: 'CORRUPT', message })
    if (change === zeros) return await expectRefusal(() => compactSqlite({ file }))
    expect(await compactSqlite({ file })).toMatchObject({ damaged: 0, open: 0 })
    await expectSound()
    await backupSqlite({ file, to })
  })

  it('is built anew by a repair, which keeps everything, or nothing is written', async () => {
    const persistence = await openSqlite({ file })
    const before = await readFile(file)
    const plan = await persistence.repair(victim)
    expect(plan.kept).toBe(2)
    expect(before.equals(await readFile(file))).toBe(true)
    if (change === zeros) {
      expect(plan.lost).toEqual([{ message: expect.stringMatching(/convert what can be read/) as string }])
      await expectRefusal(() => persistence.repair(victim, { dryRun: false }))
      return await persistence.close()
    }
    expect(plan.lost).toEqual([])
    expect(await persistence.repair(victim, { dryRun: false })).toMatchObject({ kept: 2, lost: [] })
    await persistence.close()
    await expectSound()
  })
})

async function expectRefusal(call: () => Promise<unknown>): Promise<void> {
  const before = await readFile(file)
  const message = expect.stringMatching(/convert what can be read/) as string
  await expect(call()).rejects.toMatchObject({ code: 'CORRUPT', message })
  expect(before.equals(await readFile(file))).toBe(true)
}

async function expectSound(): Promise<void> {
  {
    using raw = new RawDatabase(file)
    expect(raw.value('PRAGMA integrity_check')).toBe('ok')
  }
  const storage = sqliteStorage({ file })
  expect((await storage.list({ limit: 1000 })).map(({ id }) => id)).toEqual(IDS)
  for (const id of IDS) expect((await storage.check(id)).problems).toEqual([])
  await storage.close()
}

it('a row that only an index still knows is shown, and the index is kept', async () => {
  loseRow('session-0007-of-many')
  const storage = sqliteStorage({ file })
  const entries = await storage.list({ limit: 1000 })
  expect(entries).toHaveLength(IDS.length)
  expect(entries.at(-1)).toMatchObject({ id: 'session-0007-of-many', state: 'damaged', error: { code: 'CORRUPT' } })
  await expect(storage.openReader('session-0007-of-many')).rejects.toMatchObject({ code: 'CORRUPT' })
  await storage.close()
  await expectRefusal(() => compactSqlite({ file }))
})

/** Deletes a row of the table while its indexes are out of sight. */
function loseRow(id: string): void {
  const indexes = "type = 'index' AND sql IS NOT NULL"
  let stored: readonly (readonly unknown[])[]
  {
    using raw = new RawDatabase(file)
    stored = raw.rows(`SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE ${indexes}`)
    raw.allowAnything()
    raw.exec(`DELETE FROM sqlite_schema WHERE ${indexes}`)
  }
  {
    using raw = new RawDatabase(file)
    expect(raw.run('DELETE FROM session WHERE id = ?', encodeId(id))).toBe(1)
    raw.allowAnything()
    for (const row of stored) raw.run('INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)', ...(row as string[]))
  }
}
