/** A stored log under its writer's lock: settle what was found, then append. */
import { type AnySessionEvent, type Quarantine, SessionError, type StorageTail } from '@session-persistence/core'
import { AppendFile } from './append-file.ts'
import { attempt } from './io-error.ts'
import type { LogDialect, LogTail } from './log-codec.ts'
import { storageTail } from './log-reader.ts'
import type { LogSnapshot } from './log-snapshot.ts'
import type { WriterPlace } from './log-writer.ts'
import { keepTorn } from './quarantine.ts'
import { settleTail } from './settle.ts'

/** A log of which every byte is durable. */
export interface SettledLog {
  readonly dialect: LogDialect
  readonly identity: string
  readonly length: number
}

export class StoredLog {
  readonly #place: WriterPlace
  readonly #dialect: LogDialect
  readonly #identity: string
  #tail: LogTail
  #kept: Quarantine | undefined
  #file: AppendFile | undefined

  private constructor(
    place: WriterPlace,
    { dialect, identity, tail }: { readonly dialect: LogDialect; readonly identity: string; readonly tail: LogTail },
  ) {
    this.#place = place
    this.#dialect = dialect
    this.#identity = identity
    this.#tail = tail
  }

  /** The log of a snapshot, which nothing is known to be durable of. */
  static found(place: WriterPlace, { dialect, stat, tail }: LogSnapshot): StoredLog {
    return new StoredLog(place, { dialect, identity: stat.identity, tail })
  }

  /** A log that this writer has just made durable: the file with this identity, `length` bytes long. */
  static published(
    place: WriterPlace,
    dialect: LogDialect,
    { identity, length }: { readonly identity: string; readonly length: number },
    { nextSeq, lastTime }: StorageTail,
  ): StoredLog {
    const found = { end: length, nextSeq, lastTime, lastBatch: undefined, terminated: true }
    const log = new StoredLog(place, { dialect, identity, tail: { ...found, verdict: { kind: 'clean' } } })
    log.#file = log.#open(length)
    return log
  }

  get tail(): StorageTail {
    return storageTail(this.#tail)
  }

  get #path(): string {
    const { layout, name } = this.#place
    return layout.log(layout.directory(name))
  }

  #open(length: number): AppendFile {
    return new AppendFile(this.#place.fs, this.#path, this.#identity, length, this.#place.durable)
  }

  /** See `StorageWriter.settle`. Does it once. */
  async settle(): Promise<AppendFile> {
    if (this.#file !== undefined) return this.#file
    if (this.#tail.verdict.kind !== 'clean') {
      throw new SessionError('INVARIANT', 'the torn tail must be moved aside first', { path: this.#path })
    }
    const length = await settleTail(this.#place, this.#path, this.#identity, this.#tail)
    this.#file = this.#open(length)
    return this.#file
  }

  async append(events: readonly AnySessionEvent[]): Promise<void> {
    const file = await this.settle()
    await file.append(await this.#dialect.encodeBatch(events, file.length))
  }

  /** Each step is taken once: after an error it goes on where it was. */
  async discardTornTail(): Promise<Quarantine> {
    const { verdict, ...found } = this.#tail
    if (verdict.kind !== 'torn') throw new SessionError('INVARIANT', 'the log has no torn tail', { path: this.#path })
    const { fs, layout, name, durable } = this.#place
    const log = await attempt('open the log to cut it', this.#path, () => fs.open(this.#path, 'patch'))
    try {
      const { identity, size } = await attempt('look at the log', this.#path, () => log.stat())
      const isCut = this.#kept !== undefined && size === verdict.offset
      if (identity !== this.#identity || !(isCut || size === verdict.offset + verdict.bytes)) {
        throw new SessionError('CONFLICT', 'the log changed since it was opened', { path: this.#path })
      }
      this.#kept ??= await keepTorn(fs, layout, layout.directory(name), log, verdict, durable)
      if (!isCut) await attempt('cut torn bytes', this.#path, () => log.truncate(verdict.offset))
      if (durable) await attempt('sync the cut', this.#path, () => log.sync())
    } finally {
      await log.close().catch(() => {})
    }
    this.#tail = { ...found, verdict: { kind: 'clean' } }
    return this.#kept
  }

  /** What is durable of the log; undefined before `settle`, and after an append that failed. */
  get settled(): SettledLog | undefined {
    const file = this.#file
    if (file === undefined || file.failed) return undefined
    return { dialect: this.#dialect, identity: this.#identity, length: file.length }
  }

  async close(): Promise<void> {
    await this.#file?.close()
  }
}
