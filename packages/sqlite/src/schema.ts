/**
 * The stored schema, version 1 (docs/formats/sqlite.md). A database is opened only when its schema is exactly this
 * one: an `events` table that is really a recursive view would pass every check of SQLite's own and then run for
 * seconds (reliability.md, fact 10).
 */
import { SessionError } from '@session-persistence/core'
import type { Connection } from './connection.ts'

/** `SesP`: says in the file's header whose database it is. */
export const APPLICATION_ID = 0x53657350

/** `user_version` of the databases that this program writes. */
export const SCHEMA_VERSION = 1

/** Of every text in the database. SQLite settles it when a database is made. */
const ENCODING = 'UTF-8'

/** Rows of one session take keys from `number * 2^32`; numbers stay under 2^21, so that a key is a safe integer. */
export const SESSION_NUMBER_MAX: number = 2 ** 21 - 1

export interface SchemaObject {
  readonly type: 'table' | 'index' | 'trigger' | 'view'
  readonly name: string
  readonly table: string
  readonly sql: string
}

const text = (lines: readonly string[]): string => lines.join('\n')

/** In the order of creation. The texts are compared with the stored ones: a changed blank is another schema. */
export const SCHEMA: readonly SchemaObject[] = [
  {
    type: 'table',
    name: 'session',
    table: 'session',
    sql: text([
      'CREATE TABLE session (',
      '  number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 2097151),',
      '  id BLOB NOT NULL,',
      '  place TEXT NOT NULL,',
      '  salt INTEGER NOT NULL,',
      '  next_seq INTEGER NOT NULL,',
      '  updated_at INTEGER NOT NULL,',
      '  bytes INTEGER NOT NULL,',
      '  crc INTEGER NOT NULL',
      ') STRICT',
    ]),
  },
  {
    type: 'index',
    name: 'session_by_id',
    table: 'session',
    sql: 'CREATE UNIQUE INDEX session_by_id ON session (id, place)',
  },
  {
    type: 'index',
    name: 'session_by_time',
    table: 'session',
    sql: "CREATE INDEX session_by_time ON session (updated_at DESC, id) WHERE place = ''",
  },
  {
    type: 'table',
    name: 'header',
    table: 'header',
    sql: text([
      'CREATE TABLE header (',
      '  session INTEGER PRIMARY KEY REFERENCES session (number),',
      '  header TEXT NOT NULL,',
      '  crc INTEGER NOT NULL',
      ') STRICT',
    ]),
  },
  {
    type: 'table',
    name: 'record',
    table: 'record',
    sql: text([
      'CREATE TABLE record (',
      '  key INTEGER PRIMARY KEY CHECK (key BETWEEN 4294967296 AND 9007199254740991),',
      '  time INTEGER NOT NULL,',
      '  type TEXT NOT NULL,',
      '  events INTEGER NOT NULL,',
      '  data TEXT NOT NULL,',
      '  extra TEXT,',
      '  crc INTEGER NOT NULL',
      ') STRICT',
    ]),
  },
  {
    type: 'table',
    name: 'derived',
    table: 'derived',
    sql: text([
      'CREATE TABLE derived (',
      '  session INTEGER NOT NULL REFERENCES session (number),',
      '  name TEXT NOT NULL,',
      '  content TEXT NOT NULL,',
      '  crc INTEGER NOT NULL,',
      '  PRIMARY KEY (session, name)',
      ') STRICT, WITHOUT ROWID',
    ]),
  },
  {
    type: 'trigger',
    name: 'session_deleted',
    table: 'session',
    sql: text([
      'CREATE TRIGGER session_deleted BEFORE DELETE ON session BEGIN',
      '  DELETE FROM record WHERE key BETWEEN OLD.number << 32 AND (OLD.number << 32) + 4294967295;',
      '  DELETE FROM derived WHERE session = OLD.number;',
      '  DELETE FROM header WHERE session = OLD.number;',
      'END',
    ]),
  },
  {
    type: 'view',
    name: 'sessions',
    table: 'sessions',
    sql: text([
      'CREATE VIEW sessions AS',
      "SELECT h.header ->> '$.id' AS id, h.header ->> '$.createdAt' AS created_at, s.updated_at AS updated_at,",
      "  s.next_seq AS events, s.bytes AS bytes, h.header ->> '$.cwd' AS cwd, h.header ->> '$.parent' AS parent,",
      "  h.header ->> '$.origin' AS origin, h.header AS header",
      'FROM session AS s JOIN header AS h ON h.session = s.number',
      "WHERE s.place = ''",
    ]),
  },
  {
    type: 'view',
    name: 'events',
    table: 'events',
    sql: text([
      'CREATE VIEW events AS',
      "SELECT h.header ->> '$.id' AS session, r.key & 4294967295 AS seq, r.time AS time, r.type AS type, r.data AS data,",
      "  r.extra -> '$.ignorable' AS ignorable, r.extra -> '$.surface' AS surface, r.extra -> '$.sources' AS sources",
      'FROM session AS s JOIN header AS h ON h.session = s.number',
      '  JOIN record AS r ON r.key BETWEEN s.number << 32 AND (s.number << 32) + 4294967295',
      "WHERE s.place = '' AND r.events = 1",
      'UNION ALL',
      "SELECT h.header ->> '$.id', (r.key & 4294967295) + v.key,",
      "  r.time + coalesce((SELECT sum(d.value) FROM json_each(r.data, '$.dt') AS d WHERE d.key < v.key), 0), r.type,",
      "  json_set(r.data -> '$.run', '$.text', json(r.data -> ('$.v[' || v.key || ']'))), NULL, NULL, NULL",
      'FROM session AS s JOIN header AS h ON h.session = s.number',
      '  JOIN record AS r ON r.key BETWEEN s.number << 32 AND (s.number << 32) + 4294967295',
      "  JOIN json_each(r.data, '$.v') AS v",
      "WHERE s.place = '' AND r.events > 1",
    ]),
  },
]

/** What `ANALYZE` leaves behind: numbers for the query planner, nothing that any of our statements trusts. */
const TOLERATED: ReadonlySet<string> = new Set(['sqlite_stat1', 'sqlite_stat4'])

/** The version of a database of ours. CORRUPT for another program's; UNSUPPORTED_VERSION, with both numbers, for a newer one. */
export function readSchemaVersion(connection: Connection, newest: number = SCHEMA_VERSION): number {
  const applicationId = connection.number('PRAGMA application_id')
  if (applicationId !== APPLICATION_ID) {
    throw new SessionError('CORRUPT', `${connection.path} is not a session database`, {
      path: connection.path,
      expected: hexadecimal(APPLICATION_ID),
      found: hexadecimal(applicationId),
    })
  }
  const version = connection.number('PRAGMA user_version')
  if (version > newest) {
    throw new SessionError(
      'UNSUPPORTED_VERSION',
      `the database has schema ${version}; this program supports ${newest}: ${connection.path}`,
      { path: connection.path, expected: newest, found: version },
    )
  }
  if (version < 1) {
    throw new SessionError('CORRUPT', `the database has no schema version: ${connection.path}`, {
      path: connection.path,
      expected: newest,
      found: version,
    })
  }
  return version
}

/** As tools and the format's page show it. */
function hexadecimal(id: number): string {
  return `application_id 0x${(id >>> 0).toString(16).padStart(8, '0')}`
}

/**
 * CORRUPT unless the stored schema is this one, to the character, in a database whose texts are UTF-8: in another encoding
 * the bytes that are stored as text would be taken for that encoding, and read as something else.
 */
export function checkSchema(connection: Connection, schema: readonly SchemaObject[] = SCHEMA): void {
  const encoding = connection.text('PRAGMA encoding')
  if (encoding !== ENCODING) throw schemaError(connection, `its texts are ${encoding}, not ${ENCODING}`)
  const stored = connection.all('SELECT type, name, tbl_name, sql FROM sqlite_schema')
  const expected = new Map(schema.map((object) => [object.name, object]))
  for (const [type, name, table, sql] of stored) {
    if (typeof name === 'string' && TOLERATED.has(name)) continue
    const object = expected.get(String(name))
    if (object === undefined || object.type !== type || object.table !== table || object.sql !== sql) {
      throw schemaError(connection, `${String(type)} ${JSON.stringify(String(name)).slice(0, 80)} differs`)
    }
    expected.delete(object.name)
  }
  for (const { type, name } of expected.values()) throw schemaError(connection, `${type} ${name} is missing`)
}

function schemaError(connection: Connection, what: string): SessionError {
  return new SessionError(
    'CORRUPT',
    `the stored schema is not that of a session database: ${what}: ${connection.path}`,
    {
      path: connection.path,
    },
  )
}

/** Writes the schema into an empty database; the caller holds a transaction. */
export function createSchema(connection: Connection): void {
  for (const { sql } of SCHEMA) connection.exec(sql)
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
}
