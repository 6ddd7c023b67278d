/**
 * Reading past a damaged index: the tables hold everything, an index only finds it sooner. What an index still tells is
 * believed in one respect: a row that it knows and that the table has no more was lost.
 */
import { isSessionError, SessionError, type StorageProblem } from '@session-persistence/core'
import type { Connection, Row } from './connection.ts'
import { checkPages } from './page-check.ts'
import { decodeId, decodeSessionRow, encodeId, LIVE, SESSION_COLUMNS, type SessionRow } from './session-row.ts'
import { findRow, headerOf, type StoredSession } from './session-statements.ts'
import { sqliteError } from './sqlite-error.ts'

const INDEXES = ['session_by_id', 'session_by_time'] as const

const UNINDEXED: StorageProblem = {
  code: 'CORRUPT',
  message: 'an index of the database does not lead to the session: compacting the database builds it anew',
}

/** As `findRow`, but also without the index; its error where the table does not know better. */
export function findRowAnyway(connection: Connection, id: string, place: string = LIVE): SessionRow | undefined {
  let damage: unknown
  try {
    const row = findRow(connection, id, place)
    if (row !== undefined) return row
  } catch (error) {
    if (!isDamage(error)) throw error
    damage = error
  }
  const scan = `SELECT ${SESSION_COLUMNS} FROM session NOT INDEXED WHERE id = ? AND place = ?`
  const row = connection.row(scan, encodeId(id), place)
  if (row === undefined) {
    if (damage !== undefined) throw damage
    return undefined
  }
  try {
    return decodeSessionRow(row)
  } catch (error) {
    // The index found the same damaged row, and said where it is.
    throw damage ?? error
  }
}

/** A live session for whoever only reads. CORRUPT and UNSUPPORTED_VERSION as `headerOf`. */
export function findToRead(connection: Connection, id: string): StoredSession | undefined {
  const row = findRowAnyway(connection, id)
  return row === undefined ? undefined : { row, header: headerOf(connection, row) }
}

/** Numbers are used again; the salt is not. */
export function isSameSession(a: SessionRow | undefined, b: SessionRow): a is SessionRow {
  return a !== undefined && a.number === b.number && a.salt === b.salt && a.place === b.place
}

/**
 * Whether a session that is not found by its number is there all the same: a damaged tree leads to it on one way only.
 * What cannot be told counts as there: then the damage is the news.
 */
export function isStillStored(connection: Connection, row: SessionRow): boolean {
  try {
    return isSameSession(findRowAnyway(connection, row.id, row.place), row)
  } catch (error) {
    if (isDamage(error)) return true
    throw error
  }
}

/** What is wrong with the indexes where they should lead to a live session. */
export function indexProblems(connection: Connection, { id, number, updatedAt }: SessionRow): StorageProblem[] {
  try {
    const byId = 'SELECT number FROM session INDEXED BY session_by_id WHERE id = ? AND place = ?'
    const byTime =
      "SELECT number FROM session INDEXED BY session_by_time WHERE place = '' AND updated_at = ? AND id = ?"
    const found = [
      ...connection.all(byId, encodeId(id), LIVE),
      ...connection.all(byTime, updatedAt, encodeId(id)),
    ].flat()
    return found.length === INDEXES.length && found.every((each) => each === number) ? [] : [UNINDEXED]
  } catch (error) {
    if (!isDamage(error)) throw error
    return [UNINDEXED]
  }
}

export function isIndexProblem(problem: StorageProblem): boolean {
  return problem === UNINDEXED
}

/** Ids, as far as they can be read, of live sessions that an index knows and whose rows are gone from the table. */
export function lostRows(connection: Connection): readonly string[] {
  const lost = new Set<string>()
  for (const index of INDEXES) {
    const sql = `SELECT i.id, i.number FROM session AS i INDEXED BY ${index} WHERE i.place = '' AND NOT EXISTS (SELECT 1 FROM session AS t NOT INDEXED WHERE t.number = i.number)`
    for (const [key, number] of readable(connection.rows(sql))) {
      lost.add(decodeId(key) ?? `(unreadable, session number ${String(number)})`)
    }
  }
  const isStored = 'SELECT count(*) FROM session NOT INDEXED WHERE id = ? AND place = ?'
  // An index entry whose number is damaged tells of a session that is there under its right one.
  return [...lost].filter((id) => connection.number(isStored, encodeId(id), LIVE) === 0)
}

/** The rows before the first damaged page. */
function readable(rows: Iterable<Row>): readonly Row[] {
  const found: Row[] = []
  try {
    for (const row of rows) found.push(row)
  } catch (error) {
    if (!isDamage(error)) throw error
  }
  return found
}

/**
 * Builds the indexes anew from the table. CORRUPT, with nothing changed, when more than they is damaged: a row that only
 * an index still knows would be forgotten for good.
 */
export function rebuildIndexes(connection: Connection): void {
  connection.run('BEGIN IMMEDIATE')
  const refusal = rebuildRefusal(connection)
  if (refusal !== undefined) throw refusal
  try {
    connection.exec('REINDEX session')
  } catch (error) {
    throw isDamage(error) ? beyondRebuilding(connection) : error
  }
  if (checkPages(connection) !== 'sound') throw beyondRebuilding(connection)
  connection.run('COMMIT')
}

/** Why the indexes cannot be built anew: their own pages are unreadable, or the table has lost what they still know. */
function rebuildRefusal(connection: Connection): SessionError | undefined {
  try {
    for (const index of INDEXES) connection.number(`SELECT count(*) FROM session INDEXED BY ${index} WHERE place = ''`)
  } catch (error) {
    if (isDamage(error)) return beyondRebuilding(connection)
    throw error
  }
  return lostRows(connection).length === 0 ? undefined : beyondRebuilding(connection)
}

export function beyondRebuilding({ path }: Connection): SessionError {
  const message = `the database is damaged, nothing is written into it: convert what can be read into another one: ${path}`
  return new SessionError('CORRUPT', message, { path })
}

function isDamage(error: unknown): boolean {
  return isSessionError(sqliteError(error, 'read an index', ''), 'CORRUPT')
}
