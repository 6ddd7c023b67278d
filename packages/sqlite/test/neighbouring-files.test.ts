// Proves that files beside a database are never mixed up: what an earlier database left is not taken for part of a new
// one, a backup cannot land where the database keeps something, and a database has one name.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, link, lstat, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { DatabaseFile } from '../src/database-file.ts'
import { backupSqlite, compactSqlite, openSqlite, sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { notes, readAll, SAMPLE_EVENTS, sampleHeader, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

let file = ''

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
})

async function makeDatabase(path = file): Promise<void> {
  const storage = sqliteStorage({ file: path })
  await store(storage, 's')
  await storage.close()
}

describe.each(['-wal', '-shm', '-journal'])('a %s that an earlier database of this name left', (suffix) => {
  const content = Buffer.alloc(5000, 7)

  it('stops a new database, which leaves it as it is', async () => {
    await writeFile(`${file}${suffix}`, content)
    const storage = sqliteStorage({ file })
    const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
    const appended = expect(writer.append(notes(3))).rejects
    await appended.toMatchObject({ code: 'CONFLICT', message: expect.stringMatching(/move it away/) as string })
    expect(content.equals(await readFile(`${file}${suffix}`))).toBe(true)
    expect(existsSync(file)).toBe(false)
    await rm(`${file}${suffix}`)
    await writer.append(notes(3))
    await writer.close()
    expect(await readAll(storage, 's')).toEqual(notes(3))
    await storage.close()
  })

  it('stops a backup to this name', async () => {
    await makeDatabase()
    const to = join(dirname(file), 'backup.db')
    await writeFile(`${to}${suffix}`, content)
    await expect(backupSqlite({ file, to })).rejects.toMatchObject({ code: 'CONFLICT', path: `${to}${suffix}` })
    expect((await readdir(dirname(file))).sort()).toEqual([`backup.db${suffix}`, 'sessions.db', 'sessions.db.locks'])
  })
})

describe('a backup', () => {
  it.each(['-wal', '-shm', '-journal', '.locks', '.v1', '.tmp-0123456789abcdef'])(
    'to the name with %s is INVALID_ARGUMENT',
    async (suffix) => {
      await makeDatabase()
      const before = await readdir(dirname(file))
      await expect(backupSqlite({ file, to: `${file}${suffix}` })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
      expect(await readdir(dirname(file))).toEqual(before)
    },
  )

  it('into no directory says so', async () => {
    await makeDatabase()
    const to = join(dirname(file), 'no', 'such', 'backup.db')
    const message = expect.stringMatching(/there is no such directory: .*no.such/) as string
    await expect(backupSqlite({ file, to })).rejects.toMatchObject({ code: 'IO', message })
  })

  it('leaves what another one is writing to the same name', async () => {
    await makeDatabase()
    const to = join(dirname(file), 'backup.db')
    const target = new DatabaseFile(to)
    const outer = target.create((path) => {
      expect(new DatabaseFile(to).create(() => {})).toBe(true)
      expect(existsSync(path)).toBe(true)
    })
    expect(outer).toBe(false)
    expect((await readdir(dirname(file))).filter((name) => name.includes('backup'))).toEqual(['backup.db'])
  })
})

describe('a database with two names', () => {
  it('is PERMISSION_DENIED under each of them, and not a byte changes', async () => {
    await makeDatabase()
    const other = join(dirname(file), 'other.db')
    await link(file, other)
    const before = await readFile(file)
    for (const path of [file, other]) {
      await expect(openSqlite({ file: path })).rejects.toMatchObject({ code: 'PERMISSION_DENIED', path })
    }
    expect(before.equals(await readFile(file))).toBe(true)
    await rm(other)
    const storage = sqliteStorage({ file })
    expect(await readAll(storage, 's')).toEqual(SAMPLE_EVENTS)
    await storage.close()
  })

  it('opens when the other is what a killed creation left', async () => {
    await makeDatabase()
    const left = `${file}.tmp-0123456789abcdef`
    await link(file, left)
    const storage = sqliteStorage({ file })
    expect(await readAll(storage, 's')).toEqual(SAMPLE_EVENTS)
    await store(storage, 'more', [notes(2)])
    await storage.close()
    expect(existsSync(left)).toBe(false)
    expect((await lstat(file)).nlink).toBe(1)
  })
})

it('a planted pipe in the place of the log is refused and stays', async () => {
  await makeDatabase()
  if (spawnSync('mkfifo', [`${file}-wal`]).status !== 0) return
  const storage = sqliteStorage({ file })
  await expect(storage.list({ limit: 10 })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
  await storage.close()
  expect((await lstat(`${file}-wal`)).isFIFO()).toBe(true)
})

describe('the journal mode of a database', () => {
  const modeOf = (path: string): unknown => {
    using raw = new RawDatabase(path)
    return raw.value('PRAGMA journal_mode')
  }

  it('stays what it is, unless another one is asked for', async () => {
    const first = sqliteStorage({ file, journal: 'delete' })
    await store(first, 's')
    await first.close()
    const copy = join(dirname(file), `copy-${basename(file)}`)
    await copyFile(file, copy)
    const persistence = await openSqlite({ file })
    expect(persistence.description.modes).toMatchObject({ journal: 'delete', synchronous: 'extra' })
    const session = await persistence.create({ id: 'more' })
    session.append('session/title', { title: 'more' })
    await session.close()
    await persistence.close()
    expect(modeOf(file)).toBe('delete')
    await compactSqlite({ file })
    expect(modeOf(file)).toBe('delete')
    const asked = sqliteStorage({ file: copy, journal: 'wal' })
    await store(asked, 'other', [notes(1)])
    await asked.close()
    expect(modeOf(copy)).toBe('wal')
  })

  it('is wal for a new one', async () => {
    await makeDatabase()
    expect(modeOf(file)).toBe('wal')
    const persistence = await openSqlite({ file })
    expect(persistence.description.modes).toMatchObject({ journal: 'wal', synchronous: 'full' })
    await persistence.close()
  })
})
