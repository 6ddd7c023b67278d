/** Takes logs away in short transactions: a large one must not hold the event loop. */
import type { Database } from './database.ts'
import { deleteSomeRecords, hiddenRows, hideSession, rowsOfId } from './session-statements.ts'

/** Records removed, and overwritten, in one transaction. */
const RECORDS_AT_ONCE = 500

/** Removes one row with everything that belongs to it. The holder of the writer lock of its id calls this. */
export async function removeRow(database: Database, number: number): Promise<void> {
  let removed: number
  do {
    removed = await database.commit(0, (connection) => deleteSomeRecords(connection, number, RECORDS_AT_ONCE))
  } while (removed > 0)
  await database.commit(0, (connection) => connection.run('DELETE FROM session WHERE number = ?', number))
}

/** Removes what a killed process left of an id: logs being built, logs being deleted. */
export async function sweepHidden(database: Database, id: string): Promise<void> {
  const numbers = await database.read((connection) => hiddenRows(connection, id))
  for (const number of numbers ?? []) await removeRow(database, number)
}

/** Removes a session, damaged or not, and every original kept beside it. True when it was there. */
export async function removeSession(database: Database, id: string): Promise<boolean> {
  await sweepHidden(database, id)
  const numbers = await database.read((connection) => rowsOfId(connection, id))
  if (numbers === undefined || numbers.length === 0) return false
  // Gone for everybody at once; what follows is only work.
  const hidden = await database.commit(0, (connection) => hideSession(connection, id))
  for (const number of numbers) await removeRow(database, number)
  return hidden
}
