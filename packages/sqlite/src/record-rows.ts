/**
 * The rows of a log, several at a time: what can be proven is read fast, and whatever cannot, as far as a damaged
 * database gives it, row by row.
 */
import { LIMITS, type SessionError } from '@session-persistence/core'
import type { Connection, Row } from './connection.ts'
import { BETWEEN_TEXTS, type StoredText, singleText, splitTexts } from './joined-texts.ts'
import { CHUNK, isDamage, SEQ_SPAN, type VerifiedRow, verifyRow } from './row-codec.ts'
import type { SessionRow } from './session-row.ts'
import { sqliteError } from './sqlite-error.ts'

/** Rows whose columns are read at once. */
const ROWS_AT_ONCE = 64
/** Of texts that are joined: as UTF-16 they stay below what JavaScript keeps apart as large, which is slower. */
const JOINED_BYTES = 32 * 1024
/** Using them holds the event loop. */
const JOINED_EVENTS = 1024

/** A row of the table: verified, or what is wrong with it. */
export type FoundRow = VerifiedRow | DamagedRow

export interface DamagedRow {
  readonly seq: number
  readonly damage: SessionError
}

export interface FindOptions {
  readonly reverse?: boolean
  /** Chunks are mostly not parsed, which others are together. */
  readonly elideChunks?: boolean
}

type LogId = Pick<SessionRow, 'number' | 'salt'>

/**
 * Rows from the one that holds `from` to the one that holds `to`, oldest first; in reverse newest first. What is yielded
 * at once was read together. End the iteration before the connection is used again.
 */
export function* recordsFrom(
  connection: Connection,
  { number, salt }: LogId,
  { from, to }: { readonly from: number; readonly to: number },
  options: FindOptions = {},
): Generator<readonly FoundRow[], void, undefined> {
  const base = number * SEQ_SPAN
  yield* new RowSearch(connection, salt, options).from(base, base + from, base + to)
}

interface Keys {
  readonly first: number
  readonly last: number
}

const COLUMNS = (data: string): string => `key, time, type, events, ${data}, extra, crc`
const RANGE = 'FROM record WHERE key BETWEEN ? AND ? ORDER BY key'
/** A flipped bit can turn TEXT into BLOB with the very same bytes: what is no text is NULL here, and so refused. */
const OF_TEXT = (value: string): string => `CASE typeof(data) WHEN 'text' THEN ${value} END`
const MEASURED = `SELECT ${COLUMNS(OF_TEXT('octet_length(data)'))} ${RANGE}`
const WHOLE = `SELECT ${COLUMNS(OF_TEXT('CAST(data AS BLOB)'))} ${RANGE}`
/** In the order of a subquery: an order inside the aggregate would be made by sorting. */
const JOINED = `SELECT CAST('[' || group_concat(data, ?) || ']' AS BLOB) FROM (SELECT data ${RANGE})`

class RowSearch {
  readonly #connection: Connection
  readonly #salt: number
  readonly #options: FindOptions

  constructor(connection: Connection, salt: number, options: FindOptions) {
    this.#connection = connection
    this.#salt = salt
    this.#options = options
  }

  /** From the row that holds `key`, which starts at `base` or later. */
  *from(base: number, key: number, last: number): Generator<readonly FoundRow[], void, undefined> {
    const first =
      this.#options.reverse === true ? this.#unlessDamaged(() => this.#start(base, key)) : this.#start(base, key)
    // Backwards the row that holds `key` comes last: damage there must not take away what comes first.
    yield* this.#between({ first: first ?? base, last })
  }

  #start(base: number, key: number): number {
    const start = this.#connection.row('SELECT max(key) FROM record WHERE key BETWEEN ? AND ?', base, key)?.[0]
    return typeof start === 'number' ? start : key
  }

  *#between(keys: Keys): Generator<readonly FoundRow[], void, undefined> {
    const { reverse = false } = this.#options
    let rest = keys
    for (let isLast = false; !isLast; ) {
      const measured = this.#measured(rest)
      for (const part of parts(measured ?? [])) {
        const rows = this.#proven(reverse ? part.toReversed() : part, rest)
        if (rows === undefined) return yield* this.#oneByOne(rest)
        yield reverse ? rows.toReversed() : rows
        const end = part.at(-1)?.[0] as number
        rest = reverse ? { ...rest, last: end - 1 } : { ...rest, first: end + 1 }
      }
      if (measured === undefined) return yield* this.#oneByOne(rest)
      isLast = measured.length < ROWS_AT_ONCE
    }
  }

  /** The next rows, with the length of each text in its place; undefined when pages are damaged. */
  #measured({ first, last }: Keys): readonly Row[] | undefined {
    const sql = `${MEASURED}${this.#direction} LIMIT ${ROWS_AT_ONCE}`
    return this.#unlessDamaged(() => this.#connection.all(sql, first, last))
  }

  /** Undefined unless every row can be proven. */
  #proven(columns: readonly Row[], within: Keys): readonly VerifiedRow[] | undefined {
    const texts = isAscending(columns, within) ? this.#unlessDamaged(() => this.#texts(columns)) : undefined
    if (texts === undefined) return undefined
    try {
      return columns.map((row, at) => verifyRow(row, texts[at], this.#salt))
    } catch (error) {
      if (isDamage(error)) return undefined
      throw error
    }
  }

  /** Undefined when they are not as long as they were measured. */
  #texts(columns: readonly Row[]): readonly StoredText[] | undefined {
    const first = columns[0]?.[0] as number
    const last = columns.at(-1)?.[0] as number
    const lengths = columns.map((row) => row[DATA])
    if (!lengths.every(isTextLength)) return undefined
    if (lengths.length === 1) {
      const data = this.#connection.row(WHOLE, first, last)?.[DATA]
      return Buffer.isBuffer(data) && data.length === lengths[0] ? [singleText(data)] : undefined
    }
    const joined = this.#connection.row(JOINED, BETWEEN_TEXTS, first, last)?.[0]
    if (!Buffer.isBuffer(joined)) return undefined
    const { elideChunks = false } = this.#options
    return splitTexts(joined, lengths, !(elideChunks && columns.some((row) => row[TYPE] === CHUNK)))
  }

  /** Yields what comes before a damaged page, too. */
  *#oneByOne({ first, last }: Keys): Generator<readonly FoundRow[], void, undefined> {
    for (const row of this.#connection.rows(`${WHOLE}${this.#direction}`, first, last)) {
      const data = row[DATA]
      try {
        yield [verifyRow(row, Buffer.isBuffer(data) ? singleText(data) : undefined, this.#salt)]
      } catch (error) {
        if (!isDamage(error)) throw error
        yield [{ seq: Number(row[0]) % SEQ_SPAN, damage: error }]
      }
    }
  }

  get #direction(): string {
    return this.#options.reverse === true ? ' DESC' : ''
  }

  #unlessDamaged<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      const { code } = sqliteError(error, 'read records', this.#connection.path)
      if (code === 'CORRUPT' || code === 'TOO_LARGE') return undefined
      throw error
    }
  }
}

const TYPE = 2
const EVENTS = 3
const DATA = 4

function isTextLength(value: unknown): value is number {
  return typeof value === 'number' && value <= LIMITS.eventBytes
}

/** A damaged tree gives rows in any order. */
function isAscending(columns: readonly Row[], { first, last }: Keys): boolean {
  let previous = first - 1
  for (const [key] of columns) {
    if (typeof key !== 'number' || key <= previous) return false
    previous = key
  }
  return previous <= last
}

/** Rows whose texts are read together: about equal parts, and a long text by itself. */
function parts(rows: readonly Row[]): readonly (readonly Row[])[] {
  const lengths = rows.map((row) => Number(row[DATA]))
  const joined = lengths.reduce((sum, length) => (length < JOINED_BYTES ? sum + length : sum), 0)
  const target = joined / Math.ceil(joined / JOINED_BYTES)
  const found: Row[][] = []
  let bytes = Number.POSITIVE_INFINITY
  let events = 0
  for (const [at, row] of rows.entries()) {
    const length = lengths[at] ?? 0
    if (bytes >= target || events >= JOINED_EVENTS || length >= JOINED_BYTES) {
      found.push([])
      bytes = 0
      events = 0
    }
    found.at(-1)?.push(row)
    bytes += length
    events += Number(row[EVENTS])
  }
  return found
}
