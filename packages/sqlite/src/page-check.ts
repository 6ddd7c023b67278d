/**
 * What SQLite says of the pages of a database. Its check of everything leaves out the list of free pages where the newest
 * object of the schema is a view: that has no root page, and a first root of 0 stands for a check of some tables only
 * (SQLite 3.53). Our schema ends with two views. A page that is in use and on that list is overwritten by a later commit.
 */
import { isSessionError, SessionError, type StorageProblem } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import { sqliteError } from './sqlite-error.ts'

/**
 * `free-list`: every table and index is sound, and nothing may be written before `VACUUM` has built the file anew: other
 * pages are on the list of free ones than should be.
 */
export type PageVerdict = 'sound' | 'free-list' | 'damaged'

const FREE_LIST: StorageProblem = {
  code: 'CORRUPT',
  message:
    'the list of free pages is damaged, and a write may overwrite others: compacting the database builds it anew',
}

/** Whether SQLite finds nothing wrong with any page in use, index or constraint. The free pages are not looked at. */
export function hasSoundTrees(connection: Connection): boolean {
  return isSound(connection, 'PRAGMA integrity_check(1)')
}

/** The same of one table, and of its indexes. */
export function isSoundTable(connection: Connection, table: string): boolean {
  return isSound(connection, `PRAGMA integrity_check(${table})`)
}

/** A root page that is no page of a table ends the check with an error, before any finding. */
function isSound(connection: Connection, check: string): boolean {
  try {
    return firstFinding(connection, check) === undefined
  } catch (error) {
    if (isSessionError(sqliteError(error, 'check the pages', connection.path), 'CORRUPT')) return false
    throw error
  }
}

/**
 * Looks at every page, free or not, on a connection that can write. Holds off other writers and changes nothing. Reads the
 * whole database.
 */
export function checkPages(connection: Connection): PageVerdict {
  if (withoutViews(connection, hasSoundTrees)) return 'sound'
  return hasSoundTrees(connection) || isSoundButForUnused(connection) ? 'free-list' : 'damaged'
}

/** Whether nothing is wrong but pages that neither are in use nor free: `VACUUM` leaves them out. */
export function isSoundButForUnused(connection: Connection): boolean {
  return withoutViews(connection, () => {
    const findings = connection
      .all(`PRAGMA integrity_check(${FINDINGS_MAX})`)
      .flatMap(([text]) => String(text).split('\n'))
    return findings.every((line) => /^(?:ok|\*\*\* in database main \*\*\*|Page \d+: never used)$/.test(line))
  })
}

function withoutViews(connection: Connection, check: (connection: Connection) => boolean): boolean {
  const [begin, end] = connection.inTransaction
    ? ['SAVEPOINT page_check', 'ROLLBACK TO page_check; RELEASE page_check']
    : ['BEGIN IMMEDIATE', 'ROLLBACK']
  connection.exec(begin)
  try {
    for (const [name] of connection.all("SELECT name FROM sqlite_schema WHERE type = 'view'")) {
      connection.exec(`DROP VIEW "${String(name)}"`)
    }
    return check(connection)
  } catch (error) {
    // The pages of the schema, or free ones that dropping made more of.
    if (isSessionError(sqliteError(error, 'check the pages', connection.path), 'CORRUPT')) return false
    throw error
  } finally {
    if (connection.inTransaction) connection.exec(end)
  }
}

/**
 * What can be told of the free pages by looking at their list alone, which is cheap: that it has another length than it
 * should, names no page, or one page twice. A page in use is found by `checkPages` only.
 */
export function freeListProblems(connection: Connection): readonly StorageProblem[] {
  const finding = firstFinding(connection, "PRAGMA integrity_check('sqlite_schema')")
  return finding?.includes('Freelist') === true ? [FREE_LIST] : []
}

export function isFreeListProblem(problem: StorageProblem): boolean {
  return problem === FREE_LIST
}

/** Why nothing may be written before the list of free pages is built anew. */
export function freeListError({ path }: Connection, sessionId?: string): SessionError {
  return new SessionError(FREE_LIST.code, `${FREE_LIST.message}: ${path}`, {
    path,
    ...(sessionId === undefined ? {} : { sessionId }),
  })
}

/** In SQLite's words; undefined when there is nothing to say. A page that could not be read is an error of the disk. */
function firstFinding(connection: Connection, check: string): string | undefined {
  const finding = connection.text(check)
  if (finding === 'ok') return undefined
  const code = /unable to get the page\. error code=(\d+)/.exec(finding)?.[1]
  if (finding.includes('failed to get page') || (code !== undefined && (Number(code) & 0xff) === SQLITE_IOERR)) {
    throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' })
  }
  return finding
}

const SQLITE_IOERR = 10

/** More than any database has pages that are damaged and can be built anew. */
const FINDINGS_MAX = 1_000_000_000
