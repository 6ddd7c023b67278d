// Proves that only a database with exactly our schema is opened, and that any other file is refused and left alone.
import { mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSessionError } from '@session-persistence/core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlValue } from '../src/driver.ts'
import { openSqlite, sqliteStorage } from '../src/index.ts'
import { APPLICATION_ID, SCHEMA } from '../src/schema.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { errorOf, sampleHeader, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

let file = ''

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
})

/** Opened, read, listed, resumed, created, deleted: all refused with this code, and not a byte is changed. */
async function expectRefused(code: string): Promise<void> {
  await utimes(file, 1_000_000_000, 1_000_000_000)
  const before = await readFile(file)
  const storage = sqliteStorage({ file })
  const calls: readonly (() => unknown)[] = [
    () => openSqlite({ file }),
    () => storage.openReader('s'),
    () => storage.list({ limit: 10 }),
    () => storage.check('s'),
    () => storage.openWriter('s', { kind: 'resume' }),
    () => storage.delete('s'),
    async () => {
      const writer = await storage.openWriter('new', { kind: 'create', header: sampleHeader('new') })
      await writer.append([{ seq: 0, time: 1, type: 'turn/start', data: { turn: 1 } }]).finally(() => writer.close())
    },
  ]
  for (const call of calls) {
    const error = await errorOf(call)
    expect(isSessionError(error) && [error.code, error.message.includes(file)]).toEqual([code, true])
  }
  await storage.close()
  expect(before.equals(await readFile(file))).toBe(true)
}

async function makeDatabase(): Promise<void> {
  const storage = sqliteStorage({ file })
  await store(storage, 's')
  await storage.close()
}

describe('a file that is no session database', () => {
  it('of text is CORRUPT', async () => {
    await writeFile(file, 'just some notes, longer than the sixteen bytes of a magic string\n'.repeat(100))
    await expectRefused('CORRUPT')
    await expect(openSqlite({ file })).rejects.toThrow(`no database, or one whose first bytes are damaged, in ${file}`)
  })

  it('that is empty is CORRUPT, never filled', async () => {
    await writeFile(file, '')
    await expectRefused('CORRUPT')
  })

  it('of another program is CORRUPT', async () => {
    await writeFile(file, '')
    using raw = new RawDatabase(file)
    raw.exec('CREATE TABLE bookmarks (url TEXT)')
    raw.exec('PRAGMA application_id = 12345')
    await expectRefused('CORRUPT')
  })
})

it('of a format that SQLite does not know, beside a journal to roll back, is CORRUPT', async () => {
  await makeDatabase()
  const bytes = await readFile(file)
  // Schema format number, of which SQLite knows up to 4.
  bytes.writeUInt32BE(9, 44)
  await writeFile(file, bytes)
  await writeFile(`${file}-journal`, Buffer.concat([Buffer.from('d9d505f920a163d7', 'hex'), Buffer.alloc(1024, 7)]))
  await expect(openSqlite({ file })).rejects.toMatchObject({ code: 'CORRUPT' })
})

describe('a session database whose schema was changed', () => {
  beforeEach(makeDatabase)

  it('to a newer version is UNSUPPORTED_VERSION with both numbers', async () => {
    {
      using raw = new RawDatabase(file)
      raw.exec('PRAGMA user_version = 2')
    }
    const error = await errorOf(() => openSqlite({ file }))
    expect(isSessionError(error) && [error.expected, error.found]).toEqual([1, 2])
    await expectRefused('UNSUPPORTED_VERSION')
  })

  it.each([
    ['an added table', 'CREATE TABLE more (x)'],
    ['an added index', 'CREATE INDEX more ON record (time)'],
    ['a missing trigger', 'DROP TRIGGER session_deleted'],
    ['a missing index', 'DROP INDEX session_by_time'],
    ['an added column', 'ALTER TABLE header ADD COLUMN more TEXT'],
    ['a trigger that eats rows', 'CREATE TRIGGER eat BEFORE INSERT ON record BEGIN SELECT RAISE(IGNORE); END'],
    ['no version', 'PRAGMA user_version = 0'],
    ['a negative version', 'PRAGMA user_version = -1'],
  ])('by %s is CORRUPT', async (_, sql) => {
    {
      using raw = new RawDatabase(file)
      raw.exec(sql)
    }
    await expectRefused('CORRUPT')
  })

  it('by statistics of ANALYZE is still ours', async () => {
    {
      using raw = new RawDatabase(file)
      raw.exec('ANALYZE')
    }
    const storage = sqliteStorage({ file })
    expect((await storage.list({ limit: 10 })).map(({ id }) => id)).toEqual(['s'])
    await storage.close()
  })
})

it.each(['UTF-16le', 'UTF-16be'])('a database of ours in another encoding, %s, is CORRUPT', async (encoding) => {
  await makeDatabase()
  const original = file
  file = join(await temporaryDirectory(), 'other-encoding.db')
  await writeFile(file, '')
  {
    using from = new RawDatabase(original)
    using raw = new RawDatabase(file)
    raw.exec(`PRAGMA encoding = '${encoding}'`)
    for (const { sql } of SCHEMA) raw.exec(sql)
    for (const table of ['session', 'header', 'record']) {
      for (const row of from.rows(`SELECT * FROM ${table}`)) {
        const places = row.map(() => '?').join(', ')
        raw.run(`INSERT INTO ${table} VALUES (${places})`, ...(row as readonly SqlValue[]))
      }
    }
    raw.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 1`)
    expect(raw.value('PRAGMA encoding')).toBe(encoding)
  }
  await expect(openSqlite({ file })).rejects.toMatchObject({ message: expect.stringMatching(/UTF-16/) as string })
  await expectRefused('CORRUPT')
})

it('a view that poses as the table of records, and would run for ever, is refused at once', async () => {
  await writeFile(file, '')
  {
    using raw = new RawDatabase(file)
    raw.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 1`)
    raw.exec(
      'CREATE VIEW record AS WITH RECURSIVE n(key) AS (SELECT 4294967296 UNION ALL SELECT key + 1 FROM n) SELECT key, 0 AS time, 0 AS type, 1 AS events, 0 AS data, 0 AS extra, 0 AS crc FROM n',
    )
  }
  await expectRefused('CORRUPT')
})

describe('a path that is no plain file', () => {
  it('but a symbolic link is PERMISSION_DENIED, and what it points to stays as it is', async () => {
    const directory = await temporaryDirectory()
    file = join(directory, 'real.db')
    await makeDatabase()
    const link = join(directory, 'link.db')
    await symlink(file, link)
    const before = await readFile(file)
    await expect(openSqlite({ file: link })).rejects.toMatchObject({ code: 'PERMISSION_DENIED', path: link })
    expect(before.equals(await readFile(file))).toBe(true)
  })

  it('but a dangling symbolic link is PERMISSION_DENIED, and nothing is made there', async () => {
    await symlink(join(file, '..', 'elsewhere.db'), file)
    await expect(openSqlite({ file })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
  })

  it('but a directory is PERMISSION_DENIED', async () => {
    await mkdir(file)
    await expect(openSqlite({ file })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
  })

  it('beside a planted link in the place of the log is PERMISSION_DENIED', async () => {
    await makeDatabase()
    await symlink(join(file, '..', 'elsewhere'), `${file}-wal`)
    await expect(openSqlite({ file })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
  })

  it.each(['', ':memory:', 'a\0b'])('%j is INVALID_ARGUMENT', async (path) => {
    await expect(openSqlite({ file: path })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})

it.each([{ journal: 'memory' }, { busyMs: -1 }, { busyMs: 1.5 }, { busyMs: 60_001 }])(
  'options %o are INVALID_ARGUMENT',
  async (options) => {
    await expect(openSqlite({ file, ...(options as object) })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  },
)
