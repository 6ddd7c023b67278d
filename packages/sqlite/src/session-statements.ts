/** Every statement about stored sessions. Each function runs to its end within one call of the connection. */
import { randomInt } from 'node:crypto'
import { isSessionError, SessionError, type SessionHeader } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import type { SqlValue } from './driver.ts'
import { recordCrc } from './row-checksum.ts'
import { SEQ_SPAN } from './row-codec.ts'
import { SESSION_NUMBER_MAX } from './schema.ts'
import {
  DELETED,
  decodeHeader,
  decodeSessionRow,
  encodeId,
  headerCrc,
  LIVE,
  SESSION_COLUMNS,
  type SessionRow,
  sessionCrc,
} from './session-row.ts'
import type { StorableRow } from './storable-rows.ts'

/** What every stored log starts from: its row, and the header that the row's salt verifies. */
export interface StoredSession {
  readonly row: SessionRow
  readonly header: SessionHeader
}

export function newSalt(): number {
  return randomInt(2 ** 32)
}

/** The row of an id in one place; CORRUPT when it is damaged. */
export function findRow(connection: Connection, id: string, place: string = LIVE): SessionRow | undefined {
  const key = encodeId(id)
  const row = connection.row(`SELECT ${SESSION_COLUMNS} FROM session WHERE id = ? AND place = ?`, key, place)
  if (row === undefined) return undefined
  const found = located(connection, () => decodeSessionRow(row))
  if (found.id !== id || found.place !== place) throw indexDamaged(connection)
  return found
}

/** Of a number; undefined when there is no such row. */
export function rowOf(connection: Connection, number: number): SessionRow | undefined {
  const row = connection.row(`SELECT ${SESSION_COLUMNS} FROM session WHERE number = ?`, number)
  return row === undefined ? undefined : located(connection, () => decodeSessionRow(row))
}

/**
 * A live session. When the index does not know the id, the table is asked as well: a damaged index must not make a
 * stored session look like one that never was.
 */
export function findSession(connection: Connection, id: string): StoredSession | undefined {
  const row = findRow(connection, id)
  if (row !== undefined) return { row, header: headerOf(connection, row) }
  const unindexed = 'SELECT count(*) FROM session NOT INDEXED WHERE id = ? AND place = ?'
  if (connection.number(unindexed, encodeId(id), LIVE) > 0) throw indexDamaged(connection)
  return undefined
}

/** CORRUPT and UNSUPPORTED_VERSION as {@link decodeHeader}. */
export function headerOf(connection: Connection, row: SessionRow): SessionHeader {
  const stored = connection.row('SELECT header, crc FROM header WHERE session = ?', row.number)
  return located(connection, () => decodeHeader(stored, row))
}

/** Numbers of the rows of an id whose place starts with a dot: what is being built or deleted, or was when somebody died. */
export function hiddenRows(connection: Connection, id: string): readonly number[] {
  const rows = connection.all(`SELECT number FROM session WHERE id = ? AND place GLOB '.*'`, encodeId(id))
  return rows.map(([number]) => Number(number))
}

/** Numbers of all rows of an id, whatever their place. */
export function rowsOfId(connection: Connection, id: string): readonly number[] {
  return connection.all('SELECT number FROM session WHERE id = ?', encodeId(id)).map(([number]) => Number(number))
}

/** Makes a live session invisible, whether its row is damaged or not; false when there is none. */
export function hideSession(connection: Connection, id: string): boolean {
  const rows = connection.all('SELECT number FROM session WHERE id = ? AND place = ?', encodeId(id), LIVE)
  for (const [number] of rows) moveOriginal(connection, Number(number), DELETED)
  return rows.length > 0
}

/**
 * Writes a new session's row and header, and returns its row. `endOf` gives the end of the log to the row of an empty
 * one, for records that the same transaction brings.
 */
export function insertSession(
  connection: Connection,
  header: SessionHeader,
  { place, salt }: Pick<SessionRow, 'place' | 'salt'>,
  endOf: (empty: SessionRow) => SessionRow = (empty) => empty,
): SessionRow {
  const text = JSON.stringify(header)
  const row = endOf({
    number: freeNumber(connection),
    id: header.id,
    place,
    salt,
    nextSeq: 0,
    updatedAt: header.createdAt,
    bytes: 0,
  })
  const { number, id, nextSeq, updatedAt, bytes } = row
  connection.run(
    `INSERT INTO session (${SESSION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    number,
    encodeId(id),
    place,
    salt,
    nextSeq,
    updatedAt,
    bytes,
    sessionCrc(row),
  )
  connection.run('INSERT INTO header (session, header, crc) VALUES (?, ?, ?)', number, text, headerCrc(text, salt))
  return row
}

function freeNumber(connection: Connection): number {
  const next = connection.number('SELECT coalesce(max(number), 0) + 1 FROM session')
  if (next <= SESSION_NUMBER_MAX) return next
  const gap = connection.row(
    'SELECT number + 1 FROM session AS s WHERE number < ? AND NOT EXISTS (SELECT 1 FROM session WHERE number = s.number + 1) LIMIT 1',
    SESSION_NUMBER_MAX,
  )?.[0]
  if (typeof gap === 'number') return gap
  throw new SessionError('TOO_LARGE', `a database holds at most ${SESSION_NUMBER_MAX} sessions: ${connection.path}`, {
    path: connection.path,
    expected: SESSION_NUMBER_MAX,
  })
}

/** The log's new end, if its row is still what it was, to the checksum; false, with nothing changed, otherwise. */
export function moveEnd(connection: Connection, from: SessionRow, to: SessionRow): boolean {
  const changes = connection.run(
    'UPDATE session SET next_seq = ?, updated_at = ?, bytes = ?, crc = ? WHERE number = ? AND next_seq = ? AND salt = ? AND crc = ?',
    to.nextSeq,
    to.updatedAt,
    to.bytes,
    sessionCrc(to),
    from.number,
    from.nextSeq,
    from.salt,
    sessionCrc(from),
  )
  return changes > 0
}

/** The log's new end, whatever it was. */
export function updateEnd(connection: Connection, row: SessionRow): void {
  connection.run(
    'UPDATE session SET next_seq = ?, updated_at = ?, bytes = ?, crc = ? WHERE number = ?',
    row.nextSeq,
    row.updatedAt,
    row.bytes,
    sessionCrc(row),
    row.number,
  )
}

export function moveSession(connection: Connection, row: SessionRow, place: string): SessionRow {
  const moved = { ...row, place }
  connection.run('UPDATE session SET place = ?, crc = ? WHERE number = ?', place, sessionCrc(moved), row.number)
  return moved
}

/** The same for a row that may be damaged: then its checksum stays wrong, and it is found damaged in its new place. */
export function moveOriginal(connection: Connection, number: number, place: string): void {
  let row: SessionRow | undefined
  try {
    row = rowOf(connection, number)
  } catch (error) {
    if (!isSessionError(error, 'CORRUPT')) throw error
    connection.run('UPDATE session SET place = ? WHERE number = ?', place, number)
    return
  }
  if (row === undefined) {
    throw new SessionError('CONFLICT', `the session was deleted or replaced: ${connection.path}`, {
      path: connection.path,
    })
  }
  moveSession(connection, row, place)
}

/** Rows of one statement: more save nothing. */
const ROWS_AT_ONCE = 8

function insertStatement(rows: number): string {
  // `data` comes as bytes, which the driver would store as such: the column holds text.
  const values = Array<string>(rows).fill('(?, ?, ?, ?, CAST(? AS TEXT), ?, ?)').join(', ')
  return `INSERT INTO record (key, time, type, events, data, extra, crc) VALUES ${values}`
}

const INSERT_ONE = insertStatement(1)
const INSERT_SOME = insertStatement(ROWS_AT_ONCE)

export function insertRecords(
  connection: Connection,
  { number, salt }: SessionRow,
  rows: readonly StorableRow[],
): void {
  const base = number * SEQ_SPAN
  let values: SqlValue[] = []
  const whole = rows.length - (rows.length % ROWS_AT_ONCE)
  for (const [at, { row, data }] of rows.entries()) {
    const { seq, time, type, events, extra } = row
    values.push(base + seq, time, type, events, data, extra, recordCrc(row, data, salt))
    if (at < whole && (at + 1) % ROWS_AT_ONCE !== 0) continue
    connection.run(at < whole ? INSERT_SOME : INSERT_ONE, ...values)
    values = []
  }
}

/** Removes what starts in a range of seqs, both inclusive. */
export function deleteRecords(connection: Connection, number: number, from: number, to: number): void {
  const base = number * SEQ_SPAN
  connection.run('DELETE FROM record WHERE key BETWEEN ? AND ?', base + from, base + to)
}

/** Removes at most `limit` records; how many it were. */
export function deleteSomeRecords(connection: Connection, number: number, limit: number): number {
  const base = number * SEQ_SPAN
  return connection.run(
    'DELETE FROM record WHERE key IN (SELECT key FROM record WHERE key BETWEEN ? AND ? LIMIT ?)',
    base,
    base + SEQ_SPAN - 1,
    limit,
  )
}

export function indexDamaged({ path }: { readonly path: string }): SessionError {
  return new SessionError('CORRUPT', `an index of the database is damaged, compacting builds it anew: ${path}`, {
    path,
  })
}

/** Adds where the damage is. */
function located<T>(connection: Connection, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof SessionError) || error.path !== undefined) throw error
    throw new SessionError(error.code, error.message, { ...error, path: connection.path })
  }
}
