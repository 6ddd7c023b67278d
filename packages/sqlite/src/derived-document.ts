/** The disposable documents beside a log. A damaged one is as good as none. */
import { crc32 } from 'node:zlib'
import { type DerivedDocument, isSessionError } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import type { SessionRow } from './session-row.ts'
import { sqliteError } from './sqlite-error.ts'

export function readDerived(
  connection: Connection,
  { number, salt }: SessionRow,
  name: DerivedDocument,
): string | undefined {
  const sql = 'SELECT content, crc FROM derived WHERE session = ? AND name = ?'
  const [content, crc] = unlessDamaged(connection, () => connection.row(sql, number, name)) ?? []
  return typeof content === 'string' && crc32(content, salt) === crc ? content : undefined
}

/** What there is to say of the documents of a session, although nothing is lost by it. */
export function derivedNotes(connection: Connection, { number }: SessionRow): readonly string[] {
  const sql = 'SELECT length(content) FROM derived WHERE session = ?'
  const found = unlessDamaged(connection, () => connection.all(sql, number))
  return found === undefined ? ['the table of snapshots and summaries is damaged: a repair makes it anew'] : []
}

/** Undefined also where the pages of the table are damaged. */
function unlessDamaged<T>(connection: Connection, read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isSessionError(sqliteError(error, 'read a derived document', connection.path), 'CORRUPT')) return undefined
    throw error
  }
}

export function writeDerived(
  connection: Connection,
  { number, salt }: SessionRow,
  name: DerivedDocument,
  content: string,
): void {
  connection.run(
    'INSERT INTO derived (session, name, content, crc) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET content = excluded.content, crc = excluded.crc',
    number,
    name,
    content,
    crc32(content, salt),
  )
}
