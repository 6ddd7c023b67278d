// Proves that no commit is acknowledged into a file that lost its name while the database was being opened to write:
// whatever is replaced at whichever step of that, an acknowledged event is found under the name.
import fs, { copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { Database } from '../src/database.ts'
import { DatabaseFile } from '../src/database-file.ts'
import { type Driver, type DriverConnection, loadDriver, type SqlValue } from '../src/driver.ts'
import { sqliteStorage } from '../src/index.ts'
import { store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const fsyncSync = fs.fsyncSync

afterEach(() => {
  vi.useRealTimers()
  fs.fsyncSync = fsyncSync
  syncBuiltinESMExports()
})

/** A driver that calls `step` after each thing that it did for a connection that writes, and `done` at its first commit. */
function stepping(step: () => void, done: () => void): Driver {
  const driver = loadDriver()
  return {
    ...driver,
    open: (file, access) => {
      const connection = driver.open(file, access)
      if (access === 'read') return connection
      const after = <T>(value: T): T => {
        step()
        return value
      }
      const stepped: DriverConnection = {
        prepare: (sql) => {
          if (sql === 'BEGIN IMMEDIATE') done()
          const statement = connection.prepare(sql)
          const wrapped = {
            run: (...values: readonly SqlValue[]) => after(statement.run(...values)),
            get: (...values: readonly SqlValue[]) => after(statement.get(...values)),
            all: (...values: readonly SqlValue[]) => after(statement.all(...values)),
            iterate: (...values: readonly SqlValue[]) => statement.iterate(...values),
            raw: () => {
              statement.raw()
              return wrapped
            },
          }
          return wrapped
        },
        exec: (sql) => after(connection.exec(sql)),
        get inTransaction() {
          return connection.inTransaction
        },
        unsafeMode: (on) => connection.unsafeMode(on),
        serialize: () => connection.serialize(),
        close: () => connection.close(),
      }
      return after(stepped)
    },
  }
}

const REPLACEMENTS: readonly (readonly [string, (file: string) => void])[] = [
  [
    'the database, by its backup',
    (file) => {
      renameSync(`${file}.bak`, file)
      for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
    },
  ],
  ['the log, by nothing', (file) => rmSync(`${file}-wal`, { force: true })],
  [
    'the log, by a copy',
    (file) => {
      if (!existsSync(`${file}-wal`)) return
      copyFileSync(`${file}-wal`, `${file}.copy`)
      renameSync(`${file}.copy`, `${file}-wal`)
    },
  ],
]

it.each(REPLACEMENTS)('at every step: %s', async (_, replace) => {
  const original = await makeDatabase()
  // The first round replaces nothing, and counts.
  let opening = 0
  let conflicts = 0
  for (let when = 0; when <= opening; when++) {
    const file = join(await temporaryDirectory(), 'sessions.db')
    for (const path of [file, `${file}.bak`]) copyFileSync(original, path)
    let steps = 0
    let opened = false
    const step = (): void => {
      if (opened) return
      steps++
      if (steps === when) replace(file)
    }
    fs.fsyncSync = (descriptor) => {
      step()
      fsyncSync(descriptor)
    }
    syncBuiltinESMExports()
    const driver = stepping(step, () => {
      opened = true
    })
    const database = new Database(driver, new DatabaseFile(file), { journal: undefined, busyMs: 0 })
    expect(await database.read(() => true)).toBe(true)
    const outcome = await database
      .commit(0, (connection) => connection.run("UPDATE header SET header = 'marked'"))
      .then(
        () => 'acknowledged',
        (error: { code: string }) => error.code,
      )
    await database.close().catch(() => {})
    if (when === 0) {
      expect(outcome).toBe('acknowledged')
      opening = steps
    } else if (outcome === 'acknowledged') expect(await headers(file)).toEqual(['marked'])
    else conflicts++
  }
  expect(opening).toBeGreaterThan(10)
  expect(conflicts).toBeGreaterThan(0)
})

async function makeDatabase(): Promise<string> {
  const file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  await store(storage, 's')
  await storage.close()
  return file
}

async function headers(file: string): Promise<readonly unknown[]> {
  const database = new Database(loadDriver(), new DatabaseFile(file), { journal: undefined, busyMs: 0 })
  const found = await database.read((connection) => connection.all('SELECT header FROM header').flat())
  await database.close()
  return found ?? []
}

it('a name that the database gets in another directory stops the next commit', async () => {
  const file = await makeDatabase()
  // Long after the last change of the directory, which then is believed for a second.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
  const database = new Database(loadDriver(), new DatabaseFile(file), { journal: 'wal', busyMs: 0 })
  const commit = (): Promise<number> =>
    database.commit(0, (connection) => connection.run('UPDATE header SET crc = crc'))
  expect([await commit(), await commit()]).toEqual([1, 1])
  linkSync(file, join(await temporaryDirectory(), 'other.db'))
  await expect(commit()).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
  await database.close()
})
