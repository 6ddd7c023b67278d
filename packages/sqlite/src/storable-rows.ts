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

/** UTF-8 bytes that one UTF-16 unit takes at most. */
const UNIT_BYTES_MAX = 3

/** Texts are written here first, one behind the other, so that their lengths need not be known; then they move at once. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024)

/** The rows that hold these events, in order; runs are packed. */
export function storableRows(events: readonly AnySessionEvent[]): StorableRows {
  const encoded = encodeRows(events)
  const ends: number[] = []
  let end = 0
  for (const { data } of encoded) {
    if (end + data.length * UNIT_BYTES_MAX > scratch.length) break
    end += scratch.write(data, end, 'utf8')
    ends.push(end)
  }
  const texts = Buffer.from(scratch.subarray(0, end))
  let bytes = 0
  let start = 0
  const rows = encoded.map((row, at): StorableRow => {
    const stop = ends[at]
    const data = stop === undefined ? Buffer.from(row.data, 'utf8') : texts.subarray(start, stop)
    start = stop ?? start
    bytes += data.length + Buffer.byteLength(row.type, 'utf8') + Buffer.byteLength(row.extra ?? '', 'utf8')
    return { row, data }
  })
  return { rows, bytes }
}
