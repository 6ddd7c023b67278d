/** The exclusive writer of one session, over the log's three states: not stored yet, staged, stored. */
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
import { writeDerived } from './derived-document.ts'
import { emptyReader } from './empty-reader.ts'
import type { FileSystem } from './file-system.ts'
import type { Layout } from './layout.ts'
import type { LogCodec, LogDialect } from './log-codec.ts'
import { openLogReader } from './log-reader.ts'
import type { LogSnapshot } from './log-snapshot.ts'
import type { NewLog } from './publish.ts'
import { rewriteLog } from './rewrite.ts'
import { type SealReport, sealLog } from './seal.ts'
import { StoredLog } from './stored-log.ts'
import { type BornLog, UnbornLog } from './unborn-log.ts'
import type { WriterLock } from './writer-lock.ts'

export interface WriterPlace {
  readonly fs: FileSystem
  readonly layout: Layout
  readonly codec: LogCodec
  readonly name: string
  readonly id: string
  /** Whether to sync. */
  readonly durable: boolean
}

type State =
  | { readonly kind: 'unborn'; readonly log: UnbornLog }
  | ({ readonly kind: 'staged' } & BornLog)
  | { readonly kind: 'stored'; readonly log: StoredLog }
  /** A step failed in a way that only opening the session again can tell apart. */
  | { readonly kind: 'broken'; readonly cause: unknown }
  | { readonly kind: 'closed' }

export class LogWriter implements StorageWriter {
  readonly #place: WriterPlace
  readonly #lock: WriterLock
  readonly #staged: boolean
  #header: SessionHeader
  #tail: StorageTail
  #state: State

  private constructor(
    place: WriterPlace,
    lock: WriterLock,
    header: SessionHeader,
    tail: StorageTail,
    state: State,
    staged: boolean,
  ) {
    this.#place = place
    this.#lock = lock
    this.#header = header
    this.#tail = tail
    this.#state = state
    this.#staged = staged
  }

  /** A new log; nothing is stored yet. */
  static create(place: WriterPlace, lock: WriterLock, header: SessionHeader, staged: boolean): LogWriter {
    const state: State = { kind: 'unborn', log: new UnbornLog(place, header) }
    return new LogWriter(place, lock, header, { nextSeq: 0, lastTime: undefined }, state, staged)
  }

  /** The stored log of a snapshot whose file is closed already. */
  static resume(place: WriterPlace, lock: WriterLock, snapshot: LogSnapshot): LogWriter {
    const log = StoredLog.found(place, snapshot)
    return new LogWriter(place, lock, snapshot.dialect.header, log.tail, { kind: 'stored', log }, false)
  }

  get header(): SessionHeader {
    return this.#header
  }

  get tail(): StorageTail {
    return this.#tail
  }

  get location(): string {
    const { layout, name } = this.#place
    return layout.log(layout.directory(name))
  }

  async openReader(): Promise<StorageReader> {
    const { fs, layout, codec, id, name } = this.#place
    const state = this.#state
    if (state.kind === 'unborn') return emptyReader(this.#header)
    this.#requireOpen()
    const directory = (): string => (state.kind === 'staged' ? state.log.directory : layout.directory(name))
    return await openLogReader({ fs, layout, codec, id, directory })
  }

  async append(events: readonly AnySessionEvent[]): Promise<void> {
    this.#requireOpen()
    const last = events.at(-1)
    if (last === undefined) return
    this.#requireNext(events)
    if (this.#state.kind === 'unborn' && !this.#staged) {
      const { log, dialect } = await this.#state.log.publish(events)
      this.#tail = { nextSeq: last.seq + 1, lastTime: last.time }
      this.#adopt(log, dialect)
      return
    }
    if (this.#state.kind === 'unborn') this.#state = { kind: 'staged', ...(await this.#state.log.stage()) }
    if (this.#state.kind === 'staged') {
      const { log, dialect } = this.#state
      await log.write(await dialect.encodeBatch(events, log.length))
    }
    if (this.#state.kind === 'stored') await this.#state.log.append(events)
    this.#tail = { nextSeq: last.seq + 1, lastTime: last.time }
  }

  #requireNext(events: readonly AnySessionEvent[]): void {
    const found = events[0]?.seq
    const expected = this.#tail.nextSeq
    if (found === expected) return
    throw new SessionError('CONFLICT', 'the batch does not continue the stored log', {
      sessionId: this.#place.id,
      expected,
      ...(found === undefined ? {} : { found }),
    })
  }

  /** From a published directory to a stored log. */
  #adopt(log: NewLog, dialect: LogDialect): void {
    this.#state = { kind: 'stored', log: StoredLog.published(this.#place, dialect, log, this.#tail) }
  }

  async settle(): Promise<void> {
    this.#requireOpen()
    if (this.#state.kind === 'stored') await this.#state.log.settle()
  }

  async discardTornTail(): Promise<Quarantine> {
    this.#requireOpen()
    if (this.#state.kind !== 'stored') throw new SessionError('INVARIANT', 'the log has no torn tail')
    const kept = await this.#state.log.discardTornTail()
    this.#tail = this.#state.log.tail
    return kept
  }

  async publish(): Promise<void> {
    this.#requireOpen()
    if (!this.#staged || this.#state.kind === 'stored') return
    if (this.#state.kind === 'unborn') this.#state = { kind: 'staged', ...(await this.#state.log.stage()) }
    if (this.#state.kind !== 'staged') return
    const { log, dialect } = this.#state
    await log.publish()
    this.#adopt(log, dialect)
  }

  async rewrite(
    header: SessionHeader,
    events: AsyncIterable<readonly AnySessionEvent[]>,
    keepOriginal?: string,
  ): Promise<string | undefined> {
    this.#requireOpen()
    const state = this.#state
    if (state.kind !== 'stored') throw new SessionError('INVARIANT', 'only a stored log can be rewritten')
    await state.log.settle()
    const rewritten = await rewriteLog(this.#place, header, events, keepOriginal)
    await state.log.close()
    this.#header = header
    this.#tail = rewritten.tail
    this.#state =
      rewritten.unsynced === undefined
        ? { kind: 'stored', log: rewritten.log }
        : { kind: 'broken', cause: rewritten.unsynced }
    this.#requireOpen()
    return rewritten.originalAt
  }

  /** Merges small batches into large ones, under the lock: events, seqs and receipts stay as they are. */
  async seal(signal: AbortSignal | undefined): Promise<SealReport> {
    this.#requireOpen()
    const state = this.#state
    if (state.kind !== 'stored') throw new SessionError('INVARIANT', 'only a stored log can be sealed')
    await state.log.settle()
    await state.log.close()
    const { settled } = state.log
    // The append handle is of the old file: whoever wants to go on opens the session again.
    this.#state = { kind: 'broken', cause: undefined }
    if (settled === undefined) throw new SessionError('INVARIANT', 'the log is not settled')
    return await sealLog(this.#place, settled, 'asked', signal)
  }

  async saveDerived(document: DerivedDocument, text: string): Promise<void> {
    this.#requireOpen()
    const state = this.#state
    if (state.kind !== 'stored' && state.kind !== 'staged') return
    const { fs, layout, name } = this.#place
    const directory = state.kind === 'staged' ? state.log.directory : layout.directory(name)
    await writeDerived(fs, layout.derived(directory, document), layout.temporaryFile(directory), text)
  }

  async close(): Promise<void> {
    const state = this.#state
    if (state.kind === 'closed') return
    this.#state = { kind: 'closed' }
    try {
      if (state.kind === 'stored') await closeStored(this.#place, state.log)
      else if (state.kind === 'staged') await state.log.discard()
      else if (state.kind === 'unborn') await state.log.close()
    } finally {
      await this.#lock.release()
    }
  }

  #requireOpen(): void {
    const { id: sessionId } = this.#place
    if (this.#state.kind === 'closed') throw new SessionError('CLOSED', 'the writer was closed', { sessionId })
    if (this.#state.kind === 'broken') {
      const { cause } = this.#state
      throw new SessionError('POISONED', 'an earlier step failed: close the session and open it again', {
        sessionId,
        cause,
      })
    }
  }
}

async function closeStored(place: WriterPlace, log: StoredLog): Promise<void> {
  await log.close()
  const settled = log.settled
  if (place.codec.sealsAtClose !== true || settled === undefined) return
  // Every event is stored and durable already: where merging fails, the log stays as it is.
  await sealLog(place, settled, 'close').catch(() => {})
}
