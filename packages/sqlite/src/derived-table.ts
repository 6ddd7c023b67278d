/**
 * The table of snapshots and summaries is disposable, its pages are not: a damaged one stands in the way of everything that
 * writes or checks the whole file. Such a table cannot be dropped, since that reads it. So it gets a new root page, and
 * its old pages, which nothing leads to any more, are left out when the file is built anew.
 */
import type { StorageRepair } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import { beyondRebuilding } from './damaged-index.ts'
import { isSoundButForUnused, isSoundTable } from './page-check.ts'
import { SCHEMA } from './schema.ts'

const TABLE = 'derived'
/** Stands for the new table until it has taken the old one's place. */
const ANEW = 'derived_anew'

export const DERIVED_LOST: StorageRepair['lost'][number] = {
  message: 'the table of snapshots and summaries is damaged: all of them are given up, and made again in time',
}

export function isDerivedSound(connection: Connection): boolean {
  return isSoundTable(connection, TABLE)
}

/**
 * Makes a damaged table anew, empty. CORRUPT, with nothing changed, when more is damaged. Its old pages are in nobody's way, and
 * stay unused until `VACUUM` leaves them out: a step of its own, since it may have to wait for others, or never come.
 */
export function mendDerived(connection: Connection): void {
  if (isDerivedSound(connection)) return
  connection.run('BEGIN IMMEDIATE')
  try {
    connection.editSchema(() => {
      connection.exec(sqlOf(TABLE).replace(TABLE, ANEW))
      connection.run(
        'UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = ?) WHERE name = ?',
        ANEW,
        TABLE,
      )
      connection.run('DELETE FROM sqlite_schema WHERE name = ?', ANEW)
    })
    if (!isSoundButForUnused(connection)) throw beyondRebuilding(connection)
    connection.run('COMMIT')
  } catch (error) {
    if (connection.inTransaction) connection.run('ROLLBACK')
    throw error
  }
}

function sqlOf(table: string): string {
  return SCHEMA.find(({ type, name }) => type === 'table' && name === table)?.sql ?? ''
}
