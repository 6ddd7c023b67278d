/** Databases that are not what they seem. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { RawDatabase } from '../real/raw-database.ts'
import { type HostileFile, instead, sparse } from './hostile-file.ts'

function sql(...statements: readonly string[]): HostileFile['plant'] {
  return ({ path }) => {
    const raw = new RawDatabase(path)
    for (const statement of statements) raw.exec(statement)
    raw.close()
  }
}

/** A database of somebody else with the marks of ours. */
function posing(view: string): HostileFile['plant'] {
  return ({ path }) => {
    rmSync(path)
    sql('PRAGMA application_id = 1399156560', 'PRAGMA user_version = 1', view)({ path, root: '' })
  }
}

function patched(offset: number, bytes: readonly number[]): HostileFile['plant'] {
  return ({ path }) => {
    const database = readFileSync(path)
    Buffer.from(bytes).copy(database, offset)
    writeFileSync(path, database)
  }
}

const ENDLESS = 'WITH RECURSIVE n(key) AS (SELECT 4294967296 UNION ALL SELECT key + 1 FROM n) SELECT key FROM n'

const PLANTS: Readonly<Record<string, HostileFile['plant']>> = {
  'text instead of a database': instead('just some notes, longer than a magic string\n'.repeat(100)),
  'an empty database': instead(''),
  'a gigabyte of zeros instead of a database': sparse(1024 * 1024 * 1024, ''),
  'a view as table that never ends': posing(`CREATE VIEW record AS ${ENDLESS}`),
  'a view as table of sessions': posing(`CREATE VIEW session AS ${ENDLESS}`),
  'a trigger that eats rows': sql('CREATE TRIGGER eat BEFORE INSERT ON record BEGIN SELECT RAISE(IGNORE); END'),
  'a trigger that works for ever': sql(
    `CREATE TRIGGER work BEFORE INSERT ON record BEGIN SELECT count(*) FROM (${ENDLESS}); END`,
  ),
  'another table': sql('CREATE TABLE more (x)'),
  'a newer version': sql('PRAGMA user_version = 2'),
  'a missing index': sql('DROP INDEX session_by_time'),
  'pages of 64 KiB that it does not have': patched(16, [0, 1]),
  'more pages than there are': patched(28, [0x7f, 0xff, 0xff, 0xff]),
  'a free list that leads nowhere': patched(32, [0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]),
  'a journal of random bytes': ({ path }) => writeFileSync(`${path}-journal`, Buffer.alloc(65_536, 0xd9)),
  'a log that is a link': ({ path }) => symlinkSync('/dev/zero', `${path}-wal`),
  'a log that is a directory': ({ path }) => mkdirSync(`${path}-wal`),
}

export const HOSTILE_DATABASES: readonly HostileFile[] = Object.entries(PLANTS).map(([name, plant]) => ({
  name,
  backend: 'sqlite',
  plant,
}))
