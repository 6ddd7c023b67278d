/** Another log in the place of a stored one, in one step; the caller holds the writer lock. */
import type { AnySessionEvent, SessionHeader } from '@session-persistence/core'
import { appendRecords } from './append-batch.ts'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { removeRow, sweepHidden } from './removal.ts'
import { DELETED, encodeId, LIVE, type SessionRow, STAGED } from './session-row.ts'
import { insertSession, moveOriginal, moveSession, newSalt } from './session-statements.ts'
import { storableRows } from './storable-rows.ts'

/**
 * Builds the new log where nobody sees it, then lets both change places. With `keepOriginal` the old rows stay under
 * that name, or that name and a number; otherwise they are removed. Returns the new row.
 */
export async function rewriteSession(
  database: Database,
  original: number,
  header: SessionHeader,
  pages: AsyncIterable<readonly AnySessionEvent[]>,
  keepOriginal?: string,
): Promise<SessionRow> {
  const { id } = header
  await sweepHidden(database, id)
  const start = { place: STAGED, salt: newSalt() }
  let staged = await database.commit(0, (connection) => insertSession(connection, header, start))
  for await (const events of pages) {
    if (events.length === 0) continue
    const batch = { events, stored: storableRows(events) }
    const before = staged
    staged = await database.commit(0, (connection) => appendRecords(connection, before, batch, 'compare'))
  }
  const complete = staged
  const row = await database.commit(0, (connection) => {
    moveOriginal(connection, original, keepOriginal === undefined ? DELETED : freePlace(connection, id, keepOriginal))
    return moveSession(connection, complete, LIVE)
  })
  if (keepOriginal === undefined) await removeRow(database, original)
  return row
}

/** Where a kept original is, for people (docs/formats/sqlite.md says how to read it). */
export function originalAt({ file }: Database, number: number): string {
  return `${file.given} (session number ${number}, to be read with SQL)`
}

function freePlace(connection: Connection, id: string, wanted: string): string {
  const taken = 'SELECT count(*) FROM session WHERE id = ? AND place = ?'
  const name = wanted.replace(/^\.*/, '') || 'original'
  for (let count = 1; ; count++) {
    const place = count === 1 ? name : `${name}-${count}`
    if (connection.number(taken, encodeId(id), place) === 0) return place
  }
}
