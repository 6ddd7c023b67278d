/** A snapshot of one log: its end at opening. Holds no transaction, so that the write-ahead log never waits for it. */
import {
  type DerivedDocument,
  SessionError,
  type SessionHeader,
  type StorageReader,
  type StorageReadRange,
  type StorageTail,
  type StoredRecord,
} from '@session-persistence/core'
import type { Connection } from './connection.ts'
import { findRowAnyway, isSameSession, isStillStored } from './damaged-index.ts'
import type { Database } from './database.ts'
import { readDerived } from './derived-document.ts'
import { nextTurn } from './group-commit.ts'
import { type LogPage, type PageRange, readPage, readPageBackwards } from './log-page.ts'
import type { SessionRow } from './session-row.ts'
import { rowOf, type StoredSession } from './session-statements.ts'

export class SqliteReader implements StorageReader {
  readonly header: SessionHeader
  readonly tail: StorageTail
  readonly bytes: number
  readonly #database: Database
  readonly #row: SessionRow

  constructor(database: Database, { row, header }: StoredSession) {
    this.#database = database
    this.#row = row
    this.header = header
    this.tail = tailOf(row)
    this.bytes = row.bytes
  }

  async *read(range: StorageReadRange): AsyncIterable<readonly StoredRecord[]> {
    const { signal, reverse = false, elideChunks = false } = range
    const next: PageRange = {
      from: range.from ?? 0,
      to: Math.min(range.to ?? Number.POSITIVE_INFINITY, this.tail.nextSeq - 1),
      elideChunks,
    }
    for (let { from, to } = next; from <= to; ) {
      signal?.throwIfAborted()
      const page = await this.#page({ from, to, elideChunks }, reverse ? readPageBackwards : readPage)
      if (page.records.length > 0) yield page.records
      if (page.damage !== undefined) throw await this.#explain(page.damage)
      if (reverse) to = page.end - 1
      else from = page.end
      // Between pages everybody else gets a turn.
      if (from <= to) await nextTurn()
    }
  }

  async #page(
    range: PageRange,
    read: (connection: Connection, row: SessionRow, range: PageRange) => LogPage,
  ): Promise<LogPage> {
    const page = await this.#database.read((connection) => read(connection, this.#row, range))
    if (page === undefined) throw this.#gone()
    return page
  }

  /** Records vanish together with their session: that is no damage. */
  async #explain(damage: SessionError): Promise<SessionError> {
    const row = this.#row
    const isThere = await this.#database.read(
      (connection) => isSameSession(rowOf(connection, row.number), row) || isStillStored(connection, row),
    )
    return isThere === true ? damage : this.#gone()
  }

  #gone(): SessionError {
    return new SessionError('NOT_FOUND', 'the session was deleted or rewritten while it was read', {
      sessionId: this.header.id,
      path: this.#database.file.given,
    })
  }

  async derived(document: DerivedDocument): Promise<string | undefined> {
    return await this.#database.read((connection) => readDerived(connection, this.#row, document))
  }

  async changed(signal?: AbortSignal): Promise<'changed' | 'deleted'> {
    const { id, place, salt, nextSeq } = this.#row
    return await this.#database.watch.until(async () => {
      const row = await this.#database.read((connection) => findRowAnyway(connection, id, place))
      if (row === undefined) return 'deleted'
      return row.salt !== salt || row.nextSeq !== nextSeq ? 'changed' : undefined
    }, signal)
  }

  async close(): Promise<void> {}
}

export function tailOf(row: SessionRow): StorageTail {
  return { nextSeq: row.nextSeq, lastTime: row.nextSeq === 0 ? undefined : row.updatedAt }
}
