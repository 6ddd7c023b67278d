/**
 * Schema versions and the way up from older ones. A release names the schema that it stores; its `upgrade` leads there
 * from the release before, in one transaction. The original stays beside the database as `<file>.v<version>`.
 */
import { SessionError } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import { DatabaseFile } from './database-file.ts'
import { checkSchema, readSchemaVersion, SCHEMA, SCHEMA_VERSION, type SchemaObject } from './schema.ts'
import { unreadableSchema } from './sqlite-error.ts'

export interface SchemaRelease {
  readonly version: number
  readonly schema: readonly SchemaObject[]
  /** Statements that turn the release before into this one. */
  readonly upgrade: readonly string[]
}

export const RELEASES: readonly SchemaRelease[] = [{ version: SCHEMA_VERSION, schema: SCHEMA, upgrade: [] }]

/**
 * The version of a database whose stored schema is exactly that of its version. CORRUPT for any other,
 * UNSUPPORTED_VERSION for a newer one.
 */
export function checkDatabase(connection: Connection, releases: readonly SchemaRelease[] = RELEASES): number {
  try {
    return connection.snapshot(() => checkedVersion(connection, releases))
  } catch (error) {
    throw unreadableSchema(error, connection.path)
  }
}

function checkedVersion(connection: Connection, releases: readonly SchemaRelease[]): number {
  const newest = releases.at(-1)?.version ?? 0
  const version = readSchemaVersion(connection, newest)
  const release = releases.find((each) => each.version === version)
  if (release === undefined) {
    throw new SessionError('UNSUPPORTED_VERSION', `schema ${version} is not supported any more: ${connection.path}`, {
      path: connection.path,
      expected: newest,
      found: version,
    })
  }
  checkSchema(connection, release.schema)
  return version
}

/** Brings an older database up to the newest release, the original kept; the caller has checked it. */
export function migrate(connection: Connection, from: number, releases: readonly SchemaRelease[] = RELEASES): void {
  const steps = releases.filter(({ version }) => version > from)
  const newest = steps.at(-1)
  if (newest === undefined) return
  // One that is there already is whole, of an attempt that failed after it.
  new DatabaseFile(`${connection.path}.v${from}`).create((path) => connection.run('VACUUM INTO ?', path))
  connection.run('BEGIN EXCLUSIVE')
  try {
    for (const { upgrade } of steps) for (const statement of upgrade) connection.exec(statement)
    checkSchema(connection, newest.schema)
    connection.exec(`PRAGMA user_version = ${newest.version}`)
    connection.run('COMMIT')
  } catch (error) {
    if (connection.inTransaction) connection.run('ROLLBACK')
    throw error
  }
}
