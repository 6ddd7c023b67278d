// Proves that damaged pages of the table of snapshots and summaries cost these and nothing else: every session works as
// before, verifying it says so, and a repair or compacting makes the table anew, also after it was stopped half-way.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { backupSqlite, compactSqlite, openSqlite } from '../src/index.ts'
import { SCHEMA } from '../src/schema.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const PAGE = 4096
const IDS = ['a', 'b', 'c']
const NOTE = expect.stringMatching(/snapshots and summaries is damaged/) as string
let file = ''

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
  const persistence = await openSqlite({ file })
  for (const id of IDS) {
    const session = await persistence.create({ id })
    // Enough for a snapshot, of several pages.
    for (let count = 0; count < 1_200; count++) session.append('user/message', { message: `message ${count}` })
    await session.close()
  }
  await persistence.close()
})

async function damage(change: (page: Buffer) => void): Promise<void> {
  let root: number
  {
    using raw = new RawDatabase(file)
    root = Number(raw.value("SELECT rootpage FROM sqlite_schema WHERE name = 'derived'"))
  }
  const bytes = await readFile(file)
  change(bytes.subarray((root - 1) * PAGE, root * PAGE))
  await writeFile(file, bytes)
}

async function expectWhole(notesOfA: readonly unknown[] = []): Promise<void> {
  expect(await compactSqlite({ file })).toMatchObject({ damaged: 0, open: 0 })
  await backupSqlite({ file, to: `${file}.backup` })
  const persistence = await openSqlite({ file })
  for (const id of IDS) {
    expect(await persistence.verify(id)).toMatchObject({ ok: true, notes: id === 'a' ? notesOfA : [] })
  }
  expect(await persistence.delete('b')).toBe(true)
  await persistence.close()
}

describe.each<readonly [string, (page: Buffer) => void]>([
  ['a root page of zeros', (page) => page.fill(0)],
  ['a root page whose cells lie elsewhere', (page) => page.fill(0xff, 8, 40)],
])('%s', (_, change) => {
  beforeEach(async () => damage(change))

  it('stops nothing', async () => {
    const persistence = await openSqlite({ file })
    expect((await persistence.list()).sessions.map(({ id, state }) => `${id} ${state}`).sort()).toEqual(
      IDS.map((id) => `${id} ready`),
    )
    expect(await persistence.verify('a')).toMatchObject({ ok: true, problems: [], notes: [NOTE] })
    expect((await persistence.inspect('a')).nextSeq).toBe(1_200)
    await (await persistence.fork('a', { id: 'child' })).close()
    const session = await persistence.resume('a')
    session.append('user/message', { message: 'one more' })
    await session.close()
    expect((await persistence.inspect('a')).nextSeq).toBe(session.nextSeq)
    await persistence.close()
  })

  it('is made anew by a repair, of which a dry run says the same', async () => {
    const persistence = await openSqlite({ file })
    const before = await readFile(file)
    const plan = await persistence.repair('a')
    expect(plan).toMatchObject({ kept: 1_200, lost: [{ message: NOTE }] })
    expect(before.equals(await readFile(file))).toBe(true)
    expect(await persistence.repair('a', { dryRun: false })).toEqual({ ...plan, dryRun: false })
    expect(await persistence.repair('a')).toMatchObject({ kept: 1_200, lost: [] })
    await persistence.close()
    await expectWhole()
  })

  it('is made anew by compacting', () => expectWhole())
})

it('pages that a repair left behind that was stopped are in the way of no other one, and found by compacting', async () => {
  const sql = SCHEMA.find(({ name }) => name === 'derived')?.sql ?? ''
  {
    using raw = new RawDatabase(file)
    raw.allowAnything()
    raw.exec("DELETE FROM sqlite_schema WHERE name = 'derived'; PRAGMA writable_schema = RESET")
    raw.exec(sql)
    raw.exec('DELETE FROM record WHERE key = (SELECT min(key) FROM record)')
  }
  const persistence = await openSqlite({ file })
  const plan = await persistence.repair('a')
  expect(plan.lost).not.toEqual([])
  expect(await persistence.repair('a', { dryRun: false })).toMatchObject({ lost: plan.lost })
  expect(await persistence.repair('a')).toMatchObject({ lost: [] })
  await persistence.close()
  await expectWhole([expect.stringMatching(/stand-ins/)])
})
