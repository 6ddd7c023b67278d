// Proves that an older database goes up step by step in one transaction with its original kept, and that a step that
// fails changes nothing.
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { Connection } from '../src/connection.ts'
import { loadDriver } from '../src/driver.ts'
import { sqliteStorage } from '../src/index.ts'
import { checkDatabase, migrate, RELEASES, type SchemaRelease } from '../src/migration.ts'
import { SCHEMA } from '../src/schema.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { notes, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const NOTE_SQL = 'CREATE TABLE note (text TEXT) STRICT'
const TAG_SQL = 'CREATE TABLE tag (name TEXT) STRICT'
const note = { type: 'table', name: 'note', table: 'note', sql: NOTE_SQL } as const
const tag = { type: 'table', name: 'tag', table: 'tag', sql: TAG_SQL } as const

/** Two releases that do not exist. */
const LATER: readonly SchemaRelease[] = [
  ...RELEASES,
  { version: 2, schema: [...SCHEMA, note], upgrade: [NOTE_SQL] },
  { version: 3, schema: [...SCHEMA, note, tag], upgrade: [TAG_SQL, "INSERT INTO tag VALUES ('made by the upgrade')"] },
]

let file = ''

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  await store(storage, 's', [notes(5)])
  await storage.close()
})

function open(): Connection {
  return Connection.openToWrite(loadDriver(), file, 'wal')
}

describe('an upgrade', () => {
  it('goes through every release to the newest', () => {
    const connection = open()
    expect(checkDatabase(connection, LATER)).toBe(1)
    migrate(connection, 1, LATER)
    expect(checkDatabase(connection, LATER)).toBe(3)
    expect(connection.text('SELECT name FROM tag')).toBe('made by the upgrade')
    expect(() => checkDatabase(connection)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_VERSION' }) as Error)
    connection.close()
    using original = new RawDatabase(`${file}.v1`)
    expect([original.value('PRAGMA user_version'), original.value('SELECT count(*) FROM record')]).toEqual([1, 5])
  })

  it.each([
    ['a statement that fails', ['CREATE TABLE session (x)']],
    ['a schema that is not the release’s', ['CREATE TABLE surprise (x)']],
  ])('with %s changes nothing', (_, upgrade) => {
    const connection = open()
    const broken = [...RELEASES, { version: 2, schema: [...SCHEMA, note], upgrade }]
    expect(() => migrate(connection, 1, broken)).toThrow()
    expect(checkDatabase(connection)).toBe(1)
    connection.close()
  })

  it('is nothing where the database is of the newest release', async () => {
    const connection = open()
    migrate(connection, 1)
    connection.close()
    expect((await readdir(dirname(file))).filter((name) => name.includes('.v'))).toEqual([])
  })
})
