/** Builds the file anew from its tables and indexes; the list of free pages is not read for that. */
import type { Connection } from './connection.ts'

/** On a connection that can write, outside of any transaction. */
export function vacuum(connection: Connection): void {
  // In memory, as everything else that is temporary, it would need as much as the database.
  connection.exec('PRAGMA temp_store = 1')
  try {
    connection.run('VACUUM')
  } finally {
    connection.exec('PRAGMA temp_store = 2')
  }
}
