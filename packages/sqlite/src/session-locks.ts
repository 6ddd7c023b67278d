import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isSessionError } from '@session-persistence/core'
import {
  encodeSessionName,
  ensurePrivateDirectory,
  ioError,
  isMissing,
  nodeFileSystem,
  RootDirectory,
  WriterLock,
} from '@session-persistence/file-log'
import type { DatabaseFile } from './database-file.ts'

/** The writer locks of a database's sessions, in `<database>.locks/`: the operating system's, so that they die with their holders. */
export class SessionLocks {
  readonly #file: DatabaseFile
  #made = false

  constructor(file: DatabaseFile) {
    this.#file = file
  }

  /** Makes the directories where they are missing. LOCKED, naming the owner, when another writer holds the session. */
  async acquire(id: string): Promise<WriterLock> {
    if (this.#made) {
      try {
        return await this.#acquire(id)
      } catch (error) {
        if (!isSessionError(error, 'IO') || !isMissing(error.cause)) throw error
      }
    }
    await this.#make(id)
    return await this.#acquire(id)
  }

  /** Whether somebody holds the session, or died while holding it. */
  exists(id: string): boolean {
    return existsSync(join(this.#file.locks, encodeSessionName(id)))
  }

  async #acquire(id: string): Promise<WriterLock> {
    return await WriterLock.acquire(nodeFileSystem, this.#file.locks, encodeSessionName(id), id)
  }

  async #make(sessionId: string): Promise<void> {
    try {
      await new RootDirectory(nodeFileSystem, this.#file.directory, true).ensure()
      await ensurePrivateDirectory(nodeFileSystem, this.#file.locks)
      this.#made = true
    } catch (error) {
      throw ioError(error, 'make the lock directory', this.#file.locks, { sessionId })
    }
  }
}
