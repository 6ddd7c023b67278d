import { link, open, rename, stat, truncate, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SessionError } from '@session-persistence/core'
import { createFile, FLAGS, newName, readBytes, syncDirectory, syncNames, systemCode, typed } from './files.js'
import { encodeBatch, encodeHeader, scanLog } from './log-file.js'
import { AcmeReader, tailOf } from './reader.js'

/** @typedef {import('@session-persistence/core').AnySessionEvent} AnySessionEvent */
/** @typedef {import('@session-persistence/core').SessionHeader} SessionHeader */

/**
 * The one writer of a session. Until the first batch of a new one nothing is stored: header and batch are written to a
 * file with another name, which is then linked to the right one. So a session appears with its first batch or not.
 *
 * @implements {Writer}
 * @typedef {import('@session-persistence/core').StorageWriter} Writer
 */
export class AcmeWriter {
  /** Where the log is: under its own name, or aside until it is published. @type {string | undefined} */
  #file
  #seed = 0
  /** Bytes that are known to be durable. */
  #length = 0
  /** A write failed: nobody knows what stands behind #length. */
  #uncertain = false
  #staged
  #path
  #release

  /**
   * @param {string} path
   * @param {SessionHeader} header
   * @param {{ readonly staged: boolean, readonly log?: import('./log-file.js').ScannedLog, readonly release: () => void }} facts
   */
  constructor(path, header, { staged, log, release }) {
    this.#path = path
    this.#staged = staged
    this.#release = release
    this.header = header
    this.location = path
    this.tail = log === undefined ? { nextSeq: 0, lastTime: undefined } : tailOf(log)
    if (log === undefined) return
    this.#file = path
    this.#seed = log.seed
    this.#length = log.end
  }

  openReader() {
    return typed(this.header.id, async () => {
      const file = this.#file ?? this.#path
      const bytes = await readBytes(file)
      if (bytes === undefined)
        throw new SessionError('NOT_FOUND', 'nothing is stored yet', { sessionId: this.header.id })
      return new AcmeReader(file, bytes.length, scanLog(bytes, this.header.id))
    })
  }

  /** @param {readonly AnySessionEvent[]} events */
  append(events) {
    return typed(this.header.id, async () => {
      if (this.#file === undefined) return this.#create(events)
      if (this.#uncertain) await this.#forgetFailedBatch()
      await this.#expectUntouched(this.#file)
      const bytes = encodeBatch(events, this.#seed)
      const file = await open(this.#file, FLAGS.append)
      try {
        await file.writeFile(bytes)
        await file.datasync()
      } catch (error) {
        this.#uncertain = true
        throw error
      } finally {
        await file.close()
      }
      this.#length += bytes.length
    })
  }

  /** @param {readonly AnySessionEvent[]} events */
  async #create(events) {
    const { bytes, seed } = encodeHeader(this.header)
    const all = Buffer.concat([bytes, encodeBatch(events, seed)])
    const aside = newName(dirname(this.#path))
    try {
      await createFile(aside, all)
      if (!this.#staged) await this.#appearAs(aside)
    } catch (error) {
      await unlink(aside).catch(() => {})
      throw error
    }
    this.#file = this.#staged ? aside : this.#path
    this.#seed = seed
    this.#length = all.length
  }

  /** Gives a complete file its name. A link, because it fails where a rename would replace. @param {string} aside */
  async #appearAs(aside) {
    await link(aside, this.#path).catch((/** @type {unknown} */ error) => {
      if (systemCode(error) !== 'EEXIST') throw error
      throw new SessionError('ALREADY_EXISTS', 'a session with this id is stored', { sessionId: this.header.id })
    })
    try {
      await syncNames(this.#path)
      await unlink(aside)
    } catch (error) {
      // Nobody was told that it is there, and the next try must not find it.
      await unlink(this.#path).catch(() => {})
      throw error
    }
  }

  /** Whoever changed the file since the last batch, it was not this writer. @param {string} file */
  async #expectUntouched(file) {
    const found = await stat(file).then(
      ({ size }) => size,
      () => -1,
    )
    if (found === this.#length) return
    const message = `the log has ${found} bytes, and this writer left ${this.#length}`
    throw new SessionError('CONFLICT', message, { sessionId: this.header.id, expected: this.#length, found })
  }

  async #forgetFailedBatch() {
    try {
      await this.#cut(this.#length)
      this.#uncertain = false
    } catch (cause) {
      throw new SessionError('POISONED', 'a failed batch could not be removed', { sessionId: this.header.id, cause })
    }
  }

  /** @param {number} length */
  async #cut(length) {
    await truncate(this.#file ?? this.#path, length)
    await this.settle()
  }

  /** Whoever wrote what is there may have died before it was durable. */
  settle() {
    return typed(this.header.id, async () => {
      if (this.#file === undefined) return
      const file = await open(this.#file, FLAGS.append)
      try {
        await file.datasync()
      } finally {
        await file.close()
      }
      await syncNames(this.#path)
    })
  }

  discardTornTail() {
    return typed(this.header.id, async () => {
      const { torn } = this.tail
      if (torn === undefined) throw new SessionError('INVALID_ARGUMENT', 'nothing is torn')
      const bytes = (await readBytes(this.#path))?.subarray(torn.offset) ?? Buffer.alloc(0)
      const keptAt = `${this.#path}.torn-${torn.offset}-${Date.now()}`
      await createFile(keptAt, bytes)
      await syncDirectory(dirname(keptAt))
      await this.#cut(torn.offset)
      return { offset: torn.offset, bytes: bytes.length, keptAt }
    })
  }

  publish() {
    return typed(this.header.id, async () => {
      if (!this.#staged || this.#file === undefined) return
      await this.#appearAs(this.#file)
      this.#staged = false
      this.#file = this.#path
    })
  }

  /**
   * @param {SessionHeader} header
   * @param {AsyncIterable<readonly AnySessionEvent[]>} pages
   * @param {string} [keepOriginal]
   */
  rewrite(header, pages, keepOriginal) {
    return typed(header.id, async () => {
      const { bytes, seed } = encodeHeader(header)
      const parts = [bytes]
      for await (const page of pages) parts.push(encodeBatch(page, seed))
      const all = Buffer.concat(parts)
      const aside = newName(dirname(this.#path))
      await createFile(aside, all)
      const kept = keepOriginal === undefined ? undefined : `${this.#path}.${keepOriginal}`
      if (kept !== undefined) await link(this.#path, kept)
      await rename(aside, this.#path)
      await syncDirectory(dirname(this.#path))
      this.header = header
      this.#seed = seed
      this.#length = all.length
      return kept
    })
  }

  /** Kept nowhere: see `derived` of the reader. */
  async saveDerived() {}

  async close() {
    // A staged log that nobody published leaves nothing.
    if (this.#staged && this.#file !== undefined) await unlink(this.#file).catch(() => {})
    this.#release()
  }
}
