// Proves that damage of the list of free pages, which SQLite's own check of everything passes over here, is told by the
// check, stops a repair, and is mended by compacting before a page in use is overwritten; and that a backup does not need it.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { Connection } from '../src/connection.ts'
import { type Driver, loadDriver } from '../src/driver.ts'
import { backupSqlite, compactSqlite, openSqlite, sqliteStorage } from '../src/index.ts'
import { hasSoundTrees } from '../src/page-check.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { note, readAll, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const PAGE = 4096
const KEPT = Array.from({ length: 120 }, (_, seq) => note(seq, { text: 'kept'.repeat(200) }))
let file = ''

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  await store(storage, 'kept', [KEPT])
  await store(storage, 'gone', [KEPT])
  await storage.delete('gone')
  await storage.close()
})

/** `trunk` is the page that lists the others, `live` the number of a page with records. */
type Damage = (bytes: Buffer, trunk: Buffer, live: number) => void

const count = (trunk: Buffer): number => trunk.readUInt32BE(4)
const last = (trunk: Buffer): number => 4 + 4 * count(trunk)

const VISIBLE: readonly (readonly [string, Damage])[] = [
  ['a page of zeros', (_, trunk) => trunk.fill(0)],
  ['a page of another kind', (bytes, trunk) => bytes.copy(trunk, 0, PAGE, 2 * PAGE)],
  ['a page that is not there', (_, trunk) => trunk.writeUInt32BE(0x400000, 8)],
  ['page 0', (_, trunk) => trunk.writeUInt32BE(0, 8)],
  ['a page twice', (_, trunk) => trunk.writeUInt32BE(trunk.readUInt32BE(8), last(trunk))],
  ['another length', (bytes) => bytes.writeUInt32BE(0, 36)],
]
const HIDDEN: readonly (readonly [string, Damage])[] = [
  ['a page in use', (_, trunk, live) => trunk.writeUInt32BE(live, last(trunk))],
]

async function damage(change: Damage): Promise<Buffer> {
  const bytes = await readFile(file)
  const first = bytes.readUInt32BE(32)
  expect(first).toBeGreaterThan(0)
  const live = Array.from({ length: bytes.length / PAGE }, (_, at) => at + 1).find((page) => {
    const content = bytes.subarray((page - 1) * PAGE, page * PAGE)
    return content[0] === 13 && content.includes('keptkept')
  })
  change(bytes, bytes.subarray((first - 1) * PAGE, first * PAGE), live ?? 0)
  await writeFile(file, bytes)
  return bytes
}

describe.each([...VISIBLE, ...HIDDEN])('a list of free pages with %s', (name, change) => {
  const isHidden = HIDDEN.some(([each]) => each === name)
  let damaged: Buffer

  beforeEach(async () => {
    damaged = await damage(change)
  })

  it('is told by the check, unless the page is in use, and hides no event', async () => {
    const storage = sqliteStorage({ file })
    const { events, problems } = await storage.check('kept')
    const message = expect.stringMatching(/free pages is damaged.*compacting/) as string
    expect([events, problems]).toEqual([KEPT.length, isHidden ? [] : [{ code: 'CORRUPT', message }]])
    expect(await readAll(storage, 'kept')).toEqual(KEPT)
    await storage.close()
  })

  it('stops a repair, which leaves everything as it is', async () => {
    if (isHidden) {
      using raw = new RawDatabase(file)
      raw.exec('UPDATE record SET time = time + 1 WHERE key = (1 << 32) + 4')
    }
    const before = await readFile(file)
    const persistence = await openSqlite({ file })
    const plan = await persistence.repair('kept')
    if (!isHidden) expect(plan.lost).toEqual([{ message: expect.stringMatching(/compacting/) as string }])
    const refused = expect(persistence.repair('kept', { dryRun: false })).rejects
    await refused.toMatchObject({ code: 'CORRUPT', message: expect.stringMatching(/compacting/) as string })
    await persistence.close()
    expect(before.equals(await readFile(file))).toBe(true)
  })

  it('is built anew by compacting, with every event, and then written to', async () => {
    expect(await compactSqlite({ file })).toMatchObject({ damaged: 0, open: 0 })
    expect(damaged.equals(await readFile(file))).toBe(false)
    expectSound(file)
    const storage = sqliteStorage({ file })
    await store(storage, 'more', [KEPT])
    for (const id of ['kept', 'more']) {
      expect(await readAll(storage, id)).toEqual(KEPT)
      expect((await storage.check(id)).problems).toEqual([])
    }
    await storage.close()
  })

  it('is left behind by a backup', async () => {
    const to = join(file, '..', 'backup.db')
    await backupSqlite({ file, to })
    expectSound(to)
    const copy = sqliteStorage({ file: to })
    expect(await readAll(copy, 'kept')).toEqual(KEPT)
    await copy.close()
  })

  it('refuses a commit as damage, never as a failing disk, or takes it whole', async () => {
    const storage = sqliteStorage({ file })
    const writer = await storage.openWriter('kept', { kind: 'resume' })
    let next = KEPT.length
    for (let tries = 0; tries < 4; tries++) {
      const outcome = await writer.append([note(next, { text: 'more'.repeat(3000) })]).then(
        () => 'acknowledged',
        (error: { code: string }) => error.code,
      )
      expect(['acknowledged', 'CORRUPT']).toContain(outcome)
      if (outcome === 'acknowledged') next++
    }
    await writer.close()
    await storage.close()
  })
})

function expectSound(path: string): void {
  using raw = new RawDatabase(path)
  raw.exec('BEGIN; DROP VIEW events; DROP VIEW sessions')
  expect(raw.value('PRAGMA integrity_check')).toBe('ok')
  raw.exec('ROLLBACK')
}

it.each([
  ['*** in database main ***\nTree 6 page 7: unable to get the page. error code=8458', 'SQLITE_IOERR_READ'],
  ['*** in database main ***\nFreelist: failed to get page 39', 'SQLITE_IOERR_READ'],
  ['*** in database main ***\nTree 6 page 7: unable to get the page. error code=11', undefined],
  ['*** in database main ***\nTree 6 page 7: btreeInitPage() returns error code 11', undefined],
])('what SQLite finds is damage unless it could not read: %j', (finding, code) => {
  const driver = loadDriver()
  const telling: Driver = {
    ...driver,
    open: (path, access) => {
      const connection = driver.open(path, access)
      const prepare = connection.prepare.bind(connection)
      connection.prepare = (sql) =>
        sql.startsWith('PRAGMA integrity_check') ? prepare(`SELECT '${finding}'`) : prepare(sql)
      return connection
    },
  }
  const connection = Connection.openToRead(telling, file)
  let found: unknown
  try {
    found = hasSoundTrees(connection)
  } catch (error) {
    found = (error as { code: unknown }).code
  }
  connection.close()
  expect(found).toBe(code ?? false)
})

it('a sound list is no problem, and looking at it changes not a byte', async () => {
  const before = await readFile(file)
  const storage = sqliteStorage({ file })
  expect((await storage.check('kept')).problems).toEqual([])
  await storage.close()
  expect(before.equals(await readFile(file))).toBe(true)
})
