/** Damage of what all sessions share: mended before a repair writes anything, or refused. A dry run tries it in memory. */
import { isSessionError, SessionError } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import { rebuildIndexes } from './damaged-index.ts'
import type { Database } from './database.ts'
import { mendDerived } from './derived-table.ts'
import { checkPages, freeListError, isSoundButForUnused } from './page-check.ts'
import { sqliteError } from './sqlite-error.ts'
import { refusedAppend } from './trial-append.ts'
import { vacuum } from './vacuum.ts'

/** A larger database is not taken into memory for a dry run. */
const TRIAL_BYTES_MAX = 1024 * 1024 * 1024
/** Nor is one larger than this where nothing is known to be damaged. */
const UNASKED_TRIAL_BYTES_MAX = 128 * 1024 * 1024

export interface SharedDamage {
  readonly derived: boolean
  readonly indexes: boolean
  /** Of the session itself, or of the list of free pages: then every page must be sound before anything is written. */
  readonly others: boolean
  /** Perhaps of pages where only a write would find it: of a session that is whole, the next append is tried. */
  readonly appends: boolean
}

/** CORRUPT where what is damaged cannot be made anew, or a write could make damage worse. */
export async function mendShared(database: Database, sessionId: string, damage: SharedDamage): Promise<void> {
  for (const step of stepsOf(sessionId, damage)) await database.alone(step)
}

/** What `mendShared` would throw. Nothing is written: the steps are taken on a copy of the database in memory. */
export async function expectedRefusal(
  database: Database,
  sessionId: string,
  damage: SharedDamage,
): Promise<SessionError | undefined> {
  const steps = stepsOf(sessionId, damage)
  if (steps.length === 0) return undefined
  return await database.readAlone((connection) => {
    const { path } = connection
    const bytes = connection.number('PRAGMA page_count') * connection.number('PRAGMA page_size')
    const isUnasked = !damage.derived && !damage.indexes && !damage.others
    if (isUnasked && bytes > UNASKED_TRIAL_BYTES_MAX) return undefined
    if (bytes > TRIAL_BYTES_MAX) return tooLarge(path, sessionId)
    const copy = connection.inMemory()
    try {
      for (const step of steps) step(copy)
      return undefined
    } catch (error) {
      const refusal = sqliteError(error, 'repair the database', path)
      if (isSessionError(refusal, 'CORRUPT')) return refusal
      throw error
    } finally {
      copy.close()
    }
  })
}

/** In the order in which each leaves a database that the next one can work on. */
function stepsOf(
  sessionId: string,
  { derived, indexes, others, appends }: SharedDamage,
): ((connection: Connection) => void)[] {
  const steps: ((connection: Connection) => void)[] = []
  if (derived) steps.push(mendDerived, vacuum)
  if (indexes) steps.push(rebuildIndexes)
  if (others) steps.push((connection) => requireSafeWrites(connection, sessionId))
  if (appends) steps.push((connection) => requireAppends(connection, sessionId))
  return steps
}

function requireSafeWrites(connection: Connection, sessionId: string): void {
  const verdict = checkPages(connection)
  // Pages that are neither in use nor free are overwritten by nobody.
  if (verdict === 'free-list' && !isSoundButForUnused(connection)) throw freeListError(connection, sessionId)
  if (verdict === 'damaged') throw unsoundPages(connection, sessionId)
}

/** The indexes are built anew where that is what it takes. */
function requireAppends(connection: Connection, sessionId: string): void {
  if (refusedAppend(connection, sessionId) === undefined) return
  try {
    rebuildIndexes(connection)
  } catch (error) {
    if (isSessionError(sqliteError(error, 'rebuild the indexes', connection.path), 'CORRUPT')) {
      throw unsoundPages(connection, sessionId)
    }
    throw error
  }
  if (refusedAppend(connection, sessionId) !== undefined) throw unsoundPages(connection, sessionId)
}

function unsoundPages({ path }: Connection, sessionId: string): SessionError {
  const message = `pages of the database are damaged, so nothing is written into it: convert what can be read into another one: ${path}`
  return new SessionError('CORRUPT', message, { sessionId, path })
}

function tooLarge(path: string, sessionId: string): SessionError {
  const message = `whether the repair can be written cannot be told without writing: the database is too large to try it in memory: ${path}`
  return new SessionError('CORRUPT', message, { sessionId, path })
}
