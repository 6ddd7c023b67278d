/** A stored log under its writer's lock: settle what was found, then append. */
import { type AnySessionEvent, type Quarantine, SessionError, type StorageTail } from '@session-persistence/core'
import { AppendFile } from './append-file.ts'
import { attempt } from './io-error.ts'
import type { LogDialect, LogTail } from './log-codec.ts'
import { storageTail } from './log-reader.ts'
import type { LogSnapshot } from './log-snapshot.ts'
import type { WriterPlace } from './log-writer.ts'
import { quarantine } from './quarantine.ts'
import { settleTail } from './settle.ts'

export class StoredLog {
  readonly #place: WriterPlace
  readonly #dialect: LogDialect
  readonly #identity: string
  #tail: LogTail
  #file: AppendFile | undefined

  constructor(place: WriterPlace, { dialect, stat, tail }: Pick<LogSnapshot, 'dialect' | 'stat' | 'tail'>) {
    this.#place = place
    this.#dialect = dialect
    this.#identity = stat.identity
    this.#tail = tail
  }

  /** A log that this writer has just made durable, `length` bytes long. */
  static async published(
    place: WriterPlace,
    length: number,
    dialect: LogDialect,
    { nextSeq, lastTime }: StorageTail,
  ): Promise<StoredLog> {
    const path = place.layout.log(place.layout.directory(place.name))
    const stat = await attempt('look at the log', path, () => place.fs.lstat(path))
    if (stat.kind !== 'file' || stat.size !== length) {
      throw new SessionError('CONFLICT', 'the log changed while it was published', {
        path,
        expected: length,
        found: stat.size,
      })
    }
    const tail: LogTail = {
      end: length,
      nextSeq,
      lastTime,
      lastBatch: undefined,
      terminated: true,
      verdict: { kind: 'clean' },
    }
    const log = new StoredLog(place, { dialect, stat, tail })
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
    await file.append(this.#dialect.encodeBatch(events))
  }

  async discardTornTail(): Promise<Quarantine> {
    const { verdict, ...found } = this.#tail
    if (verdict.kind !== 'torn') throw new SessionError('INVARIANT', 'the log has no torn tail', { path: this.#path })
    const { fs, layout, name, durable } = this.#place
    const log = await attempt('open the log to cut it', this.#path, () => fs.open(this.#path, 'patch'))
    try {
      const stat = await attempt('look at the log', this.#path, () => log.stat())
      if (stat.identity !== this.#identity || stat.size !== verdict.offset + verdict.bytes) {
        throw new SessionError('CONFLICT', 'the log changed since it was opened', { path: this.#path })
      }
      const kept = await quarantine(fs, layout, layout.directory(name), log, verdict, durable)
      this.#tail = { ...found, verdict: { kind: 'clean' } }
      return kept
    } finally {
      await log.close().catch(() => {})
    }
  }

  async close(): Promise<void> {
    await this.#file?.close()
  }
}
