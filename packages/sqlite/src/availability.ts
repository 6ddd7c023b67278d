import { isSessionError } from '@session-persistence/core'
import { loadDriver } from './driver.ts'

/** Whether this installation can open SQLite databases, and why not. */
export type SqliteAvailability =
  | { readonly available: true; readonly sqliteVersion: string }
  | { readonly available: false; readonly reason: string }

/** Loads the driver, opens no file. The reason is the sentence that `openSqlite` would reject with. */
export function sqliteAvailability(): SqliteAvailability {
  try {
    return { available: true, sqliteVersion: loadDriver().sqliteVersion }
  } catch (error) {
    if (isSessionError(error, 'NOT_SUPPORTED')) return { available: false, reason: error.message }
    throw error
  }
}
