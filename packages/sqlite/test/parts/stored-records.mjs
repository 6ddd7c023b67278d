// The rows of one session as bytes, and bytes as rows, past the backend: for the conformance kit, which damages them.
// Every bit is one of a column; the number of the session and its id are the place where the rows lie, and no part of
// them. Any bytes become some rows.
import { createRequire } from 'node:module'

/** @typedef {{ readonly number: number, readonly [column: string]: unknown }} SessionRow */

const SESSION_BYTES = 32
const RECORD_BYTES = 20

/**
 * @param {string} file
 * @returns {import('@session-persistence/conformance').StoredRecords}
 */
export function storedRecords(file) {
  return {
    read: async (id) => withDatabase(file, (database) => readRows(database, sessionOf(database, id))),
    write: async (id, records) =>
      withDatabase(file, (database) => {
        database.transaction(() => writeRows(database, sessionOf(database, id), records)).immediate()
      }),
  }
}

/**
 * @template T
 * @param {string} file
 * @param {(database: any) => T} use
 * @returns {T}
 */
function withDatabase(file, use) {
  const Database = createRequire(import.meta.url)('better-sqlite3')
  const database = new Database(file)
  try {
    // What is written here need not outlive the machine.
    database.pragma('synchronous = OFF')
    return use(database)
  } finally {
    database.close()
  }
}

/** @param {any} database @param {string} id @returns {SessionRow} */
function sessionOf(database, id) {
  const key = Buffer.from(id, 'utf16le').swap16()
  return database.prepare("SELECT * FROM session WHERE id = ? AND place = ''").safeIntegers().get(key)
}

/** @param {any} database @param {any} session */
function readRows(database, { number, salt, next_seq, updated_at, bytes, crc }) {
  const row = Buffer.alloc(SESSION_BYTES)
  row.writeBigUInt64BE((salt << 32n) | crc, 0)
  row.writeBigInt64BE(next_seq, 8)
  row.writeBigInt64BE(updated_at, 16)
  row.writeBigInt64BE(bytes, 24)
  const [header] = database.prepare('SELECT header, crc FROM header WHERE session = ?').all(number)
  const records = database.prepare(`SELECT * FROM record WHERE ${OF_SESSION} ORDER BY key`).all({ number })
  return [row, Buffer.concat([uint32(header.crc), Buffer.from(header.header)]), ...records.map(encodeRecord)]
}

const OF_SESSION = 'key BETWEEN (@number << 32) AND (@number << 32) + 4294967295'

/** @param {{ key: number, time: number, type: string, events: number, data: string, extra: string | null, crc: number }} row */
function encodeRecord({ key, time, type, events, data, extra, crc }) {
  const numbers = Buffer.alloc(RECORD_BYTES)
  numbers.writeUInt32BE(key % 2 ** 32, 0)
  numbers.writeBigInt64BE(BigInt(time), 4)
  numbers.writeUInt32BE(events, 12)
  numbers.writeUInt32BE(crc, 16)
  return Buffer.concat([numbers, Buffer.from(`${type}\0${extra ?? ''}\0${data}`)])
}

/**
 * @param {any} database
 * @param {SessionRow} session
 * @param {readonly Uint8Array[]} records
 */
function writeRows(database, { number }, [row = Buffer.alloc(0), header, ...records]) {
  const columns = Buffer.concat([row, Buffer.alloc(SESSION_BYTES)])
  database
    .prepare('UPDATE session SET salt = ?, crc = ?, next_seq = ?, updated_at = ?, bytes = ? WHERE number = ?')
    .run(
      columns.readUInt32BE(0),
      columns.readUInt32BE(4),
      columns.readBigInt64BE(8),
      columns.readBigInt64BE(16),
      columns.readBigInt64BE(24),
      number,
    )
  database.prepare('DELETE FROM header WHERE session = ?').run(number)
  database.prepare(`DELETE FROM record WHERE ${OF_SESSION}`).run({ number })
  if (header !== undefined) {
    const text = header.subarray(4)
    database
      .prepare('INSERT INTO header (session, header, crc) VALUES (?, CAST(? AS TEXT), ?)')
      .run(number, text, Buffer.concat([header, Buffer.alloc(4)]).readUInt32BE(0))
  }
  const isTaken = database.prepare('SELECT 1 FROM record WHERE key = (? << 32) + ?')
  const insert = database.prepare(`INSERT INTO record (key, time, type, events, data, extra, crc)
    VALUES ((@number << 32) + @seq, @time, CAST(@type AS TEXT), @events, CAST(@data AS TEXT), CAST(@extra AS TEXT), @crc)`)
  for (const record of records) {
    const { seq, ...rest } = decodeRecord(record)
    let free = seq
    // No two rows have one key: a repeated one takes the next.
    while (isTaken.get(number, free) !== undefined) free = (free + 1) % 2 ** 32
    insert.run({ number, seq: free, ...rest })
  }
}

/** @param {Uint8Array} record */
function decodeRecord(record) {
  const numbers = Buffer.concat([record.subarray(0, RECORD_BYTES), Buffer.alloc(RECORD_BYTES)])
  const texts = Buffer.from(record.subarray(RECORD_BYTES))
  const typeEnd = texts.indexOf(0)
  const extraEnd = typeEnd === -1 ? -1 : texts.indexOf(0, typeEnd + 1)
  const extra = texts.subarray(typeEnd + 1, Math.max(extraEnd, 0))
  return {
    seq: numbers.readUInt32BE(0),
    time: numbers.readBigInt64BE(4),
    events: numbers.readUInt32BE(12),
    crc: numbers.readUInt32BE(16),
    type: texts.subarray(0, Math.max(typeEnd, 0)),
    extra: extra.length === 0 ? null : extra,
    data: texts.subarray(extraEnd + 1),
  }
}

/** @param {number} value */
function uint32(value) {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
