/** The storage port over directories of files, for any log codec (docs/formats/files.md). */
import {
  type BackendDescription,
  checkSessionId,
  SessionError,
  type SessionStorage,
  type StorageCheck,
  type StorageListEntry,
  type StorageListQuery,
  type StorageReader,
  type StorageRepair,
  type StorageRepairOptions,
  type WriterIntent,
  withSessionId,
} from '@session-persistence/core'
import { requireAscent } from './ascent.ts'
import { checkLog } from './check.ts'
import type { FileSystem } from './file-system.ts'
import { ioError, isMissing } from './io-error.ts'
import { type Layout, statDirectory } from './layout.ts'
import { listLogs } from './listing.ts'
import type { LogCodec } from './log-codec.ts'
import { openLogReader } from './log-reader.ts'
import { corruptError, notFound, takeSnapshot } from './log-snapshot.ts'
import { LogWriter, type WriterPlace } from './log-writer.ts'
import { nodeFileSystem } from './node-file-system.ts'
import { isAnythingLeft, removeSession } from './removal.ts'
import { repairLog } from './repair.ts'
import type { SealReport } from './seal.ts'
import { encodeSessionName } from './session-name.ts'
import { SessionRoot } from './session-root.ts'
import { sweepDirectory, sweepSession } from './sweep.ts'
import type { WriterLock } from './writer-lock.ts'

export interface FileLogOptions {
  /** Directory that holds the sessions; made, 0700, by the first writer. Its own parents may be symbolic links. */
  readonly root: string
  /** `power` (default): an acknowledged append survives power loss. `process`: it survives the death of the process, and nothing is ever synced. */
  readonly durability?: 'power' | 'process'
  /** Stands between this package and the disk; default `node:fs`. */
  readonly fileSystem?: FileSystem
}

/** A storage that can merge the batches of a log. */
export interface SealableStorage extends SessionStorage {
  /**
   * Merges the small batches of a stored log into large ones, under its lock. A torn tail is moved aside first, as a
   * resume does. LOCKED while a writer is open; CORRUPT leaves the log as it is; NOT_SUPPORTED for a format of single lines.
   */
  seal(id: string, options?: { readonly signal?: AbortSignal }): Promise<SealReport>
}

/** INVALID_ARGUMENT for options that are not of the documented form. Touches nothing yet. */
export function fileLogStorage(codec: LogCodec, options: FileLogOptions): SealableStorage {
  return new FileLogStorage(codec, options)
}

class FileLogStorage implements SealableStorage {
  readonly description: BackendDescription
  readonly #codec: LogCodec
  readonly #fs: FileSystem
  readonly #durable: boolean
  readonly #root: SessionRoot

  constructor(codec: LogCodec, { root, durability = 'power', fileSystem = nodeFileSystem }: FileLogOptions) {
    if (durability !== 'power' && durability !== 'process') {
      throw new SessionError('INVALID_ARGUMENT', "durability must be 'power' or 'process'")
    }
    this.#codec = codec
    this.#fs = fileSystem
    this.#durable = durability === 'power'
    this.#root = new SessionRoot(fileSystem, root, codec.fileName, this.#durable)
    this.description = Object.freeze({
      name: codec.name,
      version: codec.version,
      capabilities: Object.freeze({
        durability,
        exclusion: 'host',
        integrity: codec.integrity,
        follow: 'host',
        repair: 'salvage',
      } as const),
      modes: Object.freeze({ ...codec.modes, sync: this.#durable ? fileSystem.syncMode : 'none' }),
    })
  }

  async openWriter(id: string, intent: WriterIntent): Promise<LogWriter> {
    const name = this.#name(id)
    if (intent.kind === 'resume') {
      // Nothing to lock where nothing is stored: reading a wrong id must not leave a directory behind.
      const layout = await this.#root.find()
      if (layout === undefined || statDirectory(this.#fs, layout.directory(name)) === undefined) {
        throw notFound(id, this.#root.given)
      }
    }
    const { place, lock } = await this.#lock(id, name)
    try {
      if (intent.kind === 'resume') return await this.#resume(place, lock)
      this.#requireAbsent(place)
      return LogWriter.create(place, lock, intent.header, intent.staged === true)
    } catch (error) {
      await lock.release().catch(() => {})
      throw withSessionId(error, id)
    }
  }

  async #resume(place: WriterPlace, lock: WriterLock): Promise<LogWriter> {
    const { fs, layout, codec, name, id } = place
    const directory = layout.directory(name)
    const snapshot = await takeSnapshot(fs, layout, directory, codec, id)
    try {
      const { verdict } = snapshot.tail
      if (verdict.kind === 'corrupt') throw corruptError(snapshot.path, id, verdict.damage)
      await requireAscent(snapshot, codec)
    } finally {
      await snapshot.file.close().catch(() => {})
    }
    await sweepDirectory(fs, directory)
    return LogWriter.resume(place, lock, snapshot)
  }

  #requireAbsent({ fs, layout, name, id }: WriterPlace): void {
    const path = layout.directory(name)
    try {
      fs.lstatSync(path)
    } catch (error) {
      if (isMissing(error)) return
      throw ioError(error, 'look at a session directory', path)
    }
    throw new SessionError('ALREADY_EXISTS', 'a session with this id is stored here already', { sessionId: id, path })
  }

  async #lock(id: string, name: string): Promise<{ readonly place: WriterPlace; readonly lock: WriterLock }> {
    const { layout, lock } = await this.#root.lock(id, name)
    return { place: this.#placeOf(layout, id, name), lock }
  }

  #placeOf(layout: Layout, id: string, name: string): WriterPlace {
    return { fs: this.#fs, layout, codec: this.#codec, name, id, durable: this.#durable }
  }

  async openReader(id: string): Promise<StorageReader> {
    const name = this.#name(id)
    const layout = await this.#root.find()
    if (layout === undefined) throw notFound(id, this.#root.given)
    const directory = (): string => layout.directory(name)
    const reader = openLogReader({ fs: this.#fs, layout, codec: this.#codec, id, directory })
    return await named(id, reader)
  }

  async list(query: StorageListQuery): Promise<readonly StorageListEntry[]> {
    const layout = await this.#root.find()
    return layout === undefined ? [] : await listLogs({ fs: this.#fs, layout, codec: this.#codec }, query)
  }

  async delete(id: string): Promise<boolean> {
    const name = this.#name(id)
    const layout = await this.#root.find()
    // Where there is nothing to delete, nothing is written either.
    if (layout === undefined || !(await named(id, isAnythingLeft(this.#fs, layout, name)))) return false
    const { place, lock } = await this.#lock(id, name)
    try {
      const removed = await removeSession(this.#fs, place.layout, name, this.#durable)
      await sweepSession(this.#fs, place.layout, name, this.#durable)
      return removed
    } catch (error) {
      throw withSessionId(error, id)
    } finally {
      await lock.release()
    }
  }

  async check(id: string, signal?: AbortSignal): Promise<StorageCheck> {
    const name = this.#name(id)
    const layout = await this.#root.find()
    if (layout === undefined) throw notFound(id, this.#root.given)
    return await named(id, checkLog({ fs: this.#fs, layout, codec: this.#codec }, layout.directory(name), id, signal))
  }

  async repair(id: string, options: StorageRepairOptions): Promise<StorageRepair> {
    const name = this.#name(id)
    const layout = await this.#root.find()
    if (layout === undefined) throw notFound(id, this.#root.given)
    if (options.dryRun) {
      return await named(id, repairLog(this.#placeOf(layout, id, name), options))
    }
    const { place, lock } = await this.#lock(id, name)
    try {
      return await repairLog(place, options)
    } catch (error) {
      throw withSessionId(error, id)
    } finally {
      await lock.release()
    }
  }

  async seal(id: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<SealReport> {
    signal?.throwIfAborted()
    const writer = await this.openWriter(id, { kind: 'resume' })
    try {
      if (writer.tail.torn !== undefined) await writer.discardTornTail()
      return await writer.seal(signal)
    } catch (error) {
      throw withSessionId(error, id)
    } finally {
      await writer.close()
    }
  }

  async close(): Promise<void> {}

  #name(id: string): string {
    return encodeSessionName(checkSessionId(id))
  }
}

/** Adds the id to an error that was thrown where it is not known. */
async function named<T>(id: string, result: Promise<T>): Promise<T> {
  try {
    return await result
  } catch (error) {
    throw withSessionId(error, id)
  }
}
