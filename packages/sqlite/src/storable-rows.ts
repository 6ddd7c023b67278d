/** Rows as the database takes them: each `data` becomes UTF-8 once, for its length, its checksum and its column. */
import type { AnySessionEvent } from '@session-persistence/core'
import { encodeRows, type RecordRow } from './row-codec.ts'

export interface StorableRow {
  readonly row: RecordRow
  /** `data` as UTF-8. */
  readonly data: Uint8Array
}

export interface StorableRows {
  readonly rows: readonly StorableRow[]
  /** Of all their texts, as UTF-8. */
  readonly bytes: number
}

/** The rows that hold these events, in order; runs are packed. */
export function storableRows(events: readonly AnySessionEvent[]): StorableRows {
  const rows: StorableRow[] = []
  let bytes = 0
  for (const row of encodeRows(events)) {
    const data = Buffer.from(row.data, 'utf8')
    rows.push({ row, data })
    bytes +=
      data.length +
      Buffer.byteLength(row.type, 'utf8') +
      (row.extra === null ? 0 : Buffer.byteLength(row.extra, 'utf8'))
  }
  return { rows, bytes }
}
