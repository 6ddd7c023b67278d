/**
 * The checksum of a row of the `record` table; pure (docs/formats/sqlite.md, `record`). It is taken for every row of every
 * replay.
 */
import { crc32 } from 'node:zlib'
import { asciiLine, crcOf, crcState, decimalLine, isShortAscii } from './columns-crc.ts'
import type { RecordRow } from './row-codec.ts'

/**
 * Covers everything that a row says, under the session's salt: a row in another session's place does not verify. `data`
 * is that column, as text or as its bytes.
 */
export function recordCrc(row: Omit<RecordRow, 'data'>, data: string | Uint8Array, salt: number): number {
  const { seq, time, events, type, extra } = row
  if (time < 0 || events < 0 || !isShortAscii(type) || extra !== null) {
    return crc32(data, crc32(`${seq}\n${time}\n${events}\n${type}\n${extra ?? ''}\n`, salt))
  }
  let state = decimalLine(crcState(salt), seq)
  state = decimalLine(state, time)
  state = decimalLine(state, events)
  state = asciiLine(state, type)
  // The column `extra`, which is empty.
  return crc32(data, crcOf(asciiLine(state, '')))
}
