/**
 * Packs what a log was too often flushed to pack when it was written: runs of deltas that came one by one become one
 * record. Events, seqs and receipts do not change.
 */
import type { AnySessionEvent } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { nextTurn } from './group-commit.ts'
import { readPage } from './log-page.ts'
import { SEQ_SPAN } from './row-codec.ts'
import type { SessionRow } from './session-row.ts'
import { deleteRecords, findSession, insertRecords, rowOf, updateEnd } from './session-statements.ts'
import { storableRows } from './storable-rows.ts'

/** Records saved. The caller holds the writer lock. CORRUPT, with nothing changed there, at the first damage. */
export async function repackSession(database: Database, id: string): Promise<number> {
  const stored = await database.read((connection) => findSession(connection, id))
  if (stored === undefined) return 0
  const { number, nextSeq } = stored.row
  let saved = 0
  for (let from = 0; from < nextSeq; ) {
    const start = from
    const slice = await database.read((connection) => readSlice(connection, stored.row, start))
    if (slice === undefined) return saved
    const { events, end } = slice
    const { rows, bytes } = storableRows(events)
    if (rows.length < slice.records) {
      await database.commit(bytes, (connection) => {
        const row = rowOf(connection, number)
        if (row?.salt !== stored.row.salt) return
        deleteRecords(connection, number, start, end - 1)
        insertRecords(connection, row, rows)
        updateEnd(connection, { ...row, bytes: row.bytes - slice.bytes + bytes })
      })
      saved += slice.records - rows.length
    }
    from = end
    await nextTurn()
  }
  return saved
}

interface Slice {
  readonly events: readonly AnySessionEvent[]
  /** Records that hold them. */
  readonly records: number
  readonly bytes: number
  readonly end: number
}

/** A page of whole records. */
function readSlice(connection: Connection, row: SessionRow, from: number): Slice {
  const page = readPage(connection, row, { from, to: row.nextSeq - 1, elideChunks: false })
  if (page.damage !== undefined) throw page.damage
  const base = row.number * SEQ_SPAN
  const [records, bytes] =
    connection.row(
      'SELECT count(*), sum(octet_length(type) + octet_length(data) + coalesce(octet_length(extra), 0)) FROM record WHERE key BETWEEN ? AND ?',
      base + from,
      base + page.end - 1,
    ) ?? []
  return {
    events: page.records as readonly AnySessionEvent[],
    records: Number(records),
    bytes: Number(bytes),
    end: page.end,
  }
}
