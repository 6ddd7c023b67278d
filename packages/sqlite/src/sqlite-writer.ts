/** The exclusive writer of one session. Its lock is the operating system's; the database checks each batch once more. */
import {
  type AnySessionEvent,
  type DerivedDocument,
  type Quarantine,
  SessionError,
  type SessionHeader,
  type StorageReader,
  type StorageTail,
  type StorageWriter,
} from '@session-persistence/core'
import { emptyReader, type WriterLock } from '@session-persistence/file-log'
import { appendRecords, type Batch, createWithRecords } from './append-batch.ts'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { writeDerived } from './derived-document.ts'
import { sweepHidden } from './removal.ts'
import { originalAt, rewriteSession } from './rewrite-session.ts'
import { LIVE, type SessionRow, STAGED } from './session-row.ts'
import { findRow, moveSession, newSalt, rowOf, type StoredSession } from './session-statements.ts'
import { SqliteReader, tailOf } from './sqlite-reader.ts'
import { storableRows } from './storable-rows.ts'

export class SqliteWriter implements StorageWriter {
  readonly tail: StorageTail
  readonly #database: Database
  readonly #lock: WriterLock
  #header: SessionHeader
  /** As of the last acknowledged append; undefined before the first one of a new log. */
  #row: SessionRow | undefined
  /** Of a log that is not stored yet. Kept through retries, so that its own failed attempt can be told from others. */
  readonly #salt = newSalt()
  readonly #place: typeof LIVE | typeof STAGED
  /** What was found by a resume may be on no disk yet. */
  #settled: boolean
  #generation: number
  #closed = false

  private constructor(
    database: Database,
    lock: WriterLock,
    header: SessionHeader,
    row: SessionRow | undefined,
    place: typeof LIVE | typeof STAGED,
  ) {
    this.#database = database
    this.#lock = lock
    this.#header = header
    this.#row = row
    this.#place = place
    this.#settled = row === undefined
    this.#generation = database.generation
    this.tail = row === undefined ? { nextSeq: 0, lastTime: undefined } : tailOf(row)
  }

  /** A new log; nothing is stored yet. */
  static create(database: Database, lock: WriterLock, header: SessionHeader, staged: boolean): SqliteWriter {
    return new SqliteWriter(database, lock, header, undefined, staged ? STAGED : LIVE)
  }

  static resume(database: Database, lock: WriterLock, { row, header }: StoredSession): SqliteWriter {
    return new SqliteWriter(database, lock, header, row, LIVE)
  }

  get header(): SessionHeader {
    return this.#header
  }

  get location(): string {
    return this.#database.file.given
  }

  async openReader(): Promise<StorageReader> {
    this.#requireOpen()
    const row = this.#row
    return row === undefined
      ? emptyReader(this.#header)
      : new SqliteReader(this.#database, { row, header: this.#header })
  }

  async append(events: readonly AnySessionEvent[]): Promise<void> {
    this.#requireOpen()
    if (events.length === 0) return
    if (!this.#settled) await this.settle()
    await this.#store({ events, stored: storableRows(events) })
  }

  async #store(batch: Batch): Promise<void> {
    const durable = this.#row
    const { generation } = this.#database
    const isRetry = generation !== this.#generation
    this.#row = await this.#database.commit(
      batch.stored.bytes,
      (connection) =>
        durable === undefined
          ? this.#create(connection, batch)
          : appendRecords(connection, durable, batch, isRetry ? 'discard' : 'compare'),
      // Several events together are those of a stream that is not waited for one by one: while they wait, the session
      // collects its next batch, and a commit, which holds the event loop, comes once in two turns and not in each.
      batch.events.length > 1,
    )
    this.#generation = generation
  }

  /** The first batch brings the session's row with it. */
  #create(connection: Connection, batch: Batch): SessionRow {
    const found = findRow(connection, this.#header.id, this.#place)
    if (found === undefined) {
      return createWithRecords(connection, this.#header, { place: this.#place, salt: this.#salt }, batch)
    }
    // Under its own salt it is what a commit of this writer left that was reported as failed.
    if (found.salt !== this.#salt) throw alreadyExists(this.#header.id, this.location)
    const empty = { ...found, nextSeq: 0, updatedAt: this.#header.createdAt, bytes: 0 }
    return appendRecords(connection, empty, batch, 'discard')
  }

  async settle(): Promise<void> {
    this.#requireOpen()
    if (this.#settled) return
    await this.#database.settle()
    this.#settled = true
  }

  async discardTornTail(): Promise<Quarantine> {
    throw new SessionError('INVARIANT', 'a batch in a database is whole or absent: there is no torn tail', {
      sessionId: this.#header.id,
    })
  }

  async publish(): Promise<void> {
    this.#requireOpen()
    if (this.#place === LIVE || this.#row?.place === LIVE) return
    if (this.#row === undefined) await this.#store({ events: [], stored: storableRows([]) })
    const row = this.#row
    if (row === undefined) return
    this.#row = await this.#database.commit(0, (connection) => {
      const present = findRow(connection, row.id)
      if (present !== undefined && present.salt !== row.salt) throw alreadyExists(row.id, this.location)
      return present ?? moveSession(connection, row, LIVE)
    })
  }

  async rewrite(
    header: SessionHeader,
    events: AsyncIterable<readonly AnySessionEvent[]>,
    keepOriginal?: string,
  ): Promise<string | undefined> {
    this.#requireOpen()
    const original = this.#row
    if (original === undefined) throw new SessionError('INVARIANT', 'only a stored log can be rewritten')
    await this.settle()
    this.#row = await rewriteSession(this.#database, original.number, header, events, keepOriginal)
    this.#header = header
    return keepOriginal === undefined ? undefined : originalAt(this.#database, original.number)
  }

  async saveDerived(document: DerivedDocument, text: string): Promise<void> {
    this.#requireOpen()
    const row = this.#row
    if (row === undefined) return
    await this.#database.commit(text.length, (connection) => {
      if (rowOf(connection, row.number)?.salt === row.salt) writeDerived(connection, row, document, text)
    })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    try {
      // Nobody sees a log that was never published; the next holder of the lock removes what could not be removed now.
      if (this.#place === STAGED && this.#row?.place !== LIVE) await sweepHidden(this.#database, this.#header.id)
    } catch {
      // Said above.
    } finally {
      await this.#lock.release()
    }
  }

  #requireOpen(): void {
    if (this.#closed) throw new SessionError('CLOSED', 'the writer was closed', { sessionId: this.#header.id })
  }
}

function alreadyExists(sessionId: string, path: string): SessionError {
  return new SessionError('ALREADY_EXISTS', 'a session with this id is stored here already', { sessionId, path })
}
