// Proves that a commit which meets what SQLite calls damage is tried once more on a new connection: what passed was a read
// that failed, what is said again is damage, and after that no commit pays for doubting it.
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { Database } from '../src/database.ts'
import { DatabaseFile } from '../src/database-file.ts'
import { type Driver, loadDriver } from '../src/driver.ts'
import { sqliteStorage } from '../src/index.ts'
import { store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const MARK = "UPDATE header SET header = 'marked'"

let file = ''
let failures = 0
let opened = 0

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  await store(storage, 's')
  await storage.close()
  opened = 0
})

/** Calls the statement's first `failures` runs damage. */
function failing(): Driver {
  const driver = loadDriver()
  return {
    ...driver,
    open: (path, access) => {
      if (access === 'write') opened++
      const connection = driver.open(path, access)
      return {
        prepare: (sql) => {
          const statement = connection.prepare(sql)
          if (sql !== MARK) return statement
          const run = statement.run.bind(statement)
          statement.run = (...values) => {
            if (failures-- > 0) throw Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' })
            return run(...values)
          }
          return statement
        },
        exec: (sql) => connection.exec(sql),
        get inTransaction() {
          return connection.inTransaction
        },
        unsafeMode: (on) => connection.unsafeMode(on),
        serialize: () => connection.serialize(),
        close: () => connection.close(),
      }
    },
  }
}

it.each([
  [1, 'acknowledged', 2],
  [2, 'CORRUPT', 2],
])('%i times in a row', async (times, outcome, connections) => {
  failures = times
  const database = new Database(failing(), new DatabaseFile(file), { journal: 'wal', busyMs: 0 })
  const others = database.commit(0, (connection) => connection.run('UPDATE header SET crc = crc'))
  expect(await mark(database)).toBe(outcome)
  expect(await others).toBe(1)
  expect(opened).toBe(connections)
  await database.close()
})

it('at every try: it is doubted once', async () => {
  failures = Number.POSITIVE_INFINITY
  const database = new Database(failing(), new DatabaseFile(file), { journal: 'wal', busyMs: 0 })
  for (let tries = 0; tries < 4; tries++) {
    expect(await mark(database)).toBe('CORRUPT')
    expect(await database.commit(0, (connection) => connection.run('UPDATE header SET crc = crc'))).toBe(1)
  }
  expect(opened).toBe(2)
  await database.close()
})

async function mark(database: Database): Promise<string> {
  return await database
    .commit(0, (connection) => connection.run(MARK))
    .then(
      () => 'acknowledged',
      (error: { code: string }) => error.code,
    )
}
