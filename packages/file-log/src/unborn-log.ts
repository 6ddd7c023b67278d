/** A session of which nothing is stored yet: how its log comes into being, at once or behind a stage. */
import { type AnySessionEvent, SessionError, type SessionHeader } from '@session-persistence/core'
import type { LogCodec, LogDialect } from './log-codec.ts'
import { NewLog, type NewLogPlace } from './publish.ts'

export interface BornLog {
  readonly log: NewLog
  readonly dialect: LogDialect
}

export class UnbornLog {
  readonly #place: NewLogPlace & { readonly codec: LogCodec }
  readonly #header: SessionHeader
  /** Left by a first write that failed, to be taken away before the next. */
  #failed: NewLog | undefined

  constructor(place: NewLogPlace & { readonly codec: LogCodec }, header: SessionHeader) {
    this.#place = place
    this.#header = header
  }

  /** Header and first batch appear together, durable, or not at all. */
  async publish(events: readonly AnySessionEvent[]): Promise<BornLog> {
    await this.#takeBack()
    const { bytes, dialect } = await this.#place.codec.create(this.#header)
    const batch = await dialect.encodeBatch(events, bytes.length)
    const log = await NewLog.begin(this.#place)
    try {
      await log.write(Buffer.concat([bytes, batch]))
      await log.publish()
    } catch (error) {
      this.#failed = log
      await this.#takeBack().catch(() => {})
      throw error
    }
    return { log, dialect }
  }

  /** The header, which nobody sees before the log is published. */
  async stage(): Promise<BornLog> {
    const { bytes, dialect } = await this.#place.codec.create(this.#header)
    const log = await NewLog.begin(this.#place)
    try {
      await log.write(bytes)
    } catch (error) {
      await log.discard()
      throw error
    }
    return { log, dialect }
  }

  async #takeBack(): Promise<void> {
    if (this.#failed === undefined) return
    try {
      await this.#failed.discard()
    } catch (cause) {
      throw new SessionError('POISONED', 'an earlier first write failed and could not be undone yet', { cause })
    }
    this.#failed = undefined
  }

  /** Best effort: what stays is swept by the next writer of this id. */
  async close(): Promise<void> {
    await this.#failed?.discard().catch(() => {})
  }
}
