import {
  anOptionsObject,
  createPersistence,
  type PersistenceOptions,
  type SessionPersistence,
} from '@session-persistence/core'
import { SqliteStorage, type SqliteStorageOptions } from './sqlite-storage.ts'

export interface SqliteOptions extends SqliteStorageOptions, PersistenceOptions {}

/**
 * Sessions in one SQLite database. Many processes may open the same one; a session has one writer among them all.
 *
 * Rejects with NOT_SUPPORTED where the optional dependency better-sqlite3 cannot be loaded, INVALID_ARGUMENT for options
 * that are not of the documented form, CORRUPT for a file that is no session database or whose schema was changed,
 * UNSUPPORTED_VERSION for a newer one, PERMISSION_DENIED for a symbolic or hard link. Nothing is written before the first
 * append.
 */
export async function openSqlite(options: SqliteOptions): Promise<SessionPersistence> {
  const { file, journal, busyMs, ...rest } = anOptionsObject(options)
  const storage = new SqliteStorage({
    file,
    ...(journal === undefined ? {} : { journal }),
    ...(busyMs === undefined ? {} : { busyMs }),
  })
  try {
    await storage.look()
    return createPersistence(storage, rest)
  } catch (error) {
    await storage.close()
    throw error
  }
}
