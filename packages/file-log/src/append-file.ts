/**
 * The one handle that a writer appends through (docs/formats/files.md, Append and Errors).
 *
 * Before each batch the file must be the one that this writer left, by size and inode: CONFLICT otherwise. A batch is
 * one write, which is also its sync. After any error the handle is dropped, since a failed sync can be reported once
 * and then never again (reliability.md, fact 1), and everything behind the durable length is cut and synced through a
 * new handle before the next byte; while that fails every append is refused with POISONED.
 */
import { SessionError } from '@session-persistence/core'
import type { FileStat, FileSystem, OpenFile } from './file-system.ts'
import { ioError, isMissing } from './io-error.ts'
import { appendFully } from './write-bytes.ts'

interface Failure {
  readonly error: SessionError
  /** Most bytes that the failed write can have left behind the durable length. */
  readonly bytes: number
}

export class AppendFile {
  readonly #fs: FileSystem
  readonly #path: string
  readonly #identity: string
  readonly #durable: boolean
  #length: number
  #file: OpenFile | undefined
  #failure: Failure | undefined

  /** `length`: the durable bytes of the file with this identity. `durable`: whether an append is also a sync. */
  constructor(fs: FileSystem, path: string, identity: string, length: number, durable: boolean) {
    this.#fs = fs
    this.#path = path
    this.#identity = identity
    this.#length = length
    this.#durable = durable
  }

  /** Durable bytes. */
  get length(): number {
    return this.#length
  }

  /** True after an append that failed, until the next one succeeds. */
  get failed(): boolean {
    return this.#failure !== undefined
  }

  get identity(): string {
    return this.#identity
  }

  /** One batch, whole or not at all. After a rejection the same bytes, or more, may come again. */
  async append(bytes: Uint8Array): Promise<void> {
    await this.#reestablish()
    try {
      this.#requireUntouched()
      this.#file ??= await this.#openHandle()
    } catch (error) {
      throw ioError(error, 'open the log to append', this.#path)
    }
    try {
      await appendFully(this.#file, bytes)
    } catch (error) {
      const failed = ioError(error, 'append to the log', this.#path)
      this.#failure = { error: failed, bytes: bytes.length }
      await this.#drop()
      // At once, so that a full disk is not left with half a record; the next append tries again if this fails.
      await this.#reestablish().catch(() => {})
      throw failed
    }
    this.#length += bytes.length
  }

  /** Cuts what a failed write left and syncs; POISONED while that fails. */
  async #reestablish(): Promise<void> {
    const failure = this.#failure
    if (failure === undefined) return
    try {
      await this.#cut(failure.bytes)
    } catch (error) {
      const cause = ioError(error, 're-establish the log', this.#path)
      if (cause.code === 'CONFLICT') throw cause
      throw new SessionError('POISONED', `an earlier write failed and could not be undone yet (${cause.message})`, {
        path: this.#path,
        offset: this.#length,
        cause,
      })
    }
    this.#failure = undefined
  }

  async #cut(bytesMax: number): Promise<void> {
    const file = await this.#fs.open(this.#path, 'patch')
    try {
      const stat = await file.stat()
      if (stat.identity !== this.#identity || stat.size < this.#length || stat.size > this.#length + bytesMax) {
        throw this.#conflict(stat)
      }
      await file.truncate(this.#length)
      if (this.#durable) await file.sync()
    } catch (error) {
      await file.close().catch(() => {})
      throw error
    }
    await file.close()
  }

  /** The second fence after the lock. Synchronous: a thread-pool hop would cost as much as a third of the write. */
  #requireUntouched(): void {
    let stat: FileStat
    try {
      stat = this.#fs.lstatSync(this.#path)
    } catch (error) {
      if (!isMissing(error)) throw error
      throw new SessionError('CONFLICT', 'the log is gone', { path: this.#path, cause: error })
    }
    if (stat.identity !== this.#identity || stat.size !== this.#length) throw this.#conflict(stat)
  }

  async #openHandle(): Promise<OpenFile> {
    const file = await this.#fs.open(this.#path, this.#durable ? 'append-durable' : 'append')
    try {
      const stat = await file.stat()
      if (stat.identity !== this.#identity || stat.size !== this.#length) throw this.#conflict(stat)
      return file
    } catch (error) {
      await file.close().catch(() => {})
      throw error
    }
  }

  #conflict(found: FileStat): SessionError {
    const what = found.identity === this.#identity ? 'its size changed' : 'another file took its place'
    return new SessionError('CONFLICT', `the log is not as this writer left it: ${what}`, {
      path: this.#path,
      offset: this.#length,
      expected: this.#length,
      found: found.size,
    })
  }

  async #drop(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    // Closing may report the same error again; the bytes are written anew in any case.
    await file?.close().catch(() => {})
  }

  async close(): Promise<void> {
    await this.#drop()
  }
}
