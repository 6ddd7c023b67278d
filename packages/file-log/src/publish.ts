/**
 * Builds a session directory under a temporary name and makes it appear whole (docs/formats/files.md, Create): sync the
 * file, sync its directory, rename, sync the root. Before the rename nobody sees it, and after a crash nothing but the
 * temporary directory is left.
 */
import { SessionError } from '@session-persistence/core'
import type { FileSystem, OpenFile } from './file-system.ts'
import { attempt, ioError, isMissing } from './io-error.ts'
import type { Layout } from './layout.ts'
import { createPrivateFile, makePrivateDirectory, type OpenedFile } from './private-path.ts'
import { removeTree } from './remove-tree.ts'
import { isLongSessionName } from './session-name.ts'
import { writeFully } from './write-bytes.ts'

export interface NewLogPlace {
  readonly fs: FileSystem
  readonly layout: Layout
  readonly name: string
  readonly id: string
  /** Whether to sync. */
  readonly durable: boolean
}

export class NewLog {
  readonly #place: NewLogPlace
  #directory: string
  readonly #file: OpenFile
  readonly identity: string
  /** Set when a sync failed: what the page cache shows is then no proof of anything. */
  #failed: SessionError | undefined
  #length = 0
  #wasPublished = false

  private constructor(place: NewLogPlace, directory: string, { file, stat }: OpenedFile) {
    this.#place = place
    this.#directory = directory
    this.#file = file
    this.identity = stat.identity
  }

  static async begin(place: NewLogPlace): Promise<NewLog> {
    const { fs, layout, name, id, durable } = place
    const directory = layout.temporaryDirectory(name)
    return await attempt('build a session directory', directory, async () => {
      await makePrivateDirectory(fs, directory, 'in-store')
      try {
        if (isLongSessionName(name)) await writeId(fs, layout.longId(directory), id, durable)
        return new NewLog(place, directory, await createPrivateFile(fs, layout.log(directory)))
      } catch (error) {
        await removeTree(fs, directory).catch(() => {})
        throw error
      }
    })
  }

  get directory(): string {
    return this.#directory
  }

  get length(): number {
    return this.#length
  }

  /** Adds bytes; not durable before `publish`. After a failure what was there before is there again. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#requireSound()
    const path = this.#place.layout.log(this.#directory)
    try {
      await writeFully(this.#file, bytes, this.#length)
    } catch (error) {
      const failed = ioError(error, 'write a new log', path)
      await this.#file.truncate(this.#length).catch((cause: unknown) => {
        this.#failed = ioError(cause, 'cut a new log', path)
      })
      throw failed
    }
    this.#length += bytes.length
  }

  /** Resolves with the final directory. ALREADY_EXISTS changes nothing. */
  async publish(): Promise<string> {
    this.#requireSound()
    const { fs, layout, name, durable } = this.#place
    const target = layout.directory(name)
    const path = layout.log(this.#directory)
    try {
      // Both at once: a journal makes one commit of them.
      if (durable) await bothOf(this.#file.sync(), fs.syncDirectory(this.#directory))
    } catch (error) {
      this.#failed = ioError(error, 'sync a new log', path)
      throw this.#failed
    }
    await this.#rename(target)
    this.#wasPublished = true
    const temporary = this.#directory
    this.#directory = target
    try {
      if (durable) await fs.syncDirectory(layout.root)
    } catch (error) {
      this.#failed = ioError(error, 'sync the root', layout.root)
      // Not acknowledged, so it must not be seen; the events come again.
      await this.#takeBack(temporary).catch(() => {})
      throw this.#failed
    }
    await this.#file.close().catch(() => {})
    return target
  }

  async #rename(target: string): Promise<void> {
    const { fs, id } = this.#place
    try {
      await fs.rename(this.#directory, target)
    } catch (error) {
      const there = await this.#identityIn(target)
      // A network file system may report an error for a rename that it made (a retry of its own finds nothing to do).
      if (there === this.identity) return
      if (there !== 'other') throw ioError(error, 'publish a session directory', target)
      throw new SessionError('ALREADY_EXISTS', 'a session with this id is stored here already', {
        sessionId: id,
        path: target,
        cause: error,
      })
    }
  }

  /** Identity of the log in a directory; `other` when something else is there, undefined when nothing is, or none can tell. */
  async #identityIn(directory: string): Promise<string | undefined> {
    const { fs, layout } = this.#place
    try {
      const { identity } = await fs.lstat(layout.log(directory))
      return identity === this.identity ? identity : 'other'
    } catch (error) {
      if (!isMissing(error)) return undefined
    }
    return await fs.lstat(directory).then(
      () => 'other',
      () => undefined,
    )
  }

  #requireSound(): void {
    if (this.#failed === undefined) return
    throw new SessionError('POISONED', 'an earlier write to this new log failed', { cause: this.#failed })
  }

  /** Takes everything away. Rejects when a directory that was made visible could not be taken back. */
  async discard(): Promise<void> {
    const { layout, name } = this.#place
    await this.#file.close().catch(() => {})
    if (this.#directory === layout.directory(name)) {
      const aside = layout.temporaryDirectory(name)
      await attempt('take back a session directory', this.#directory, () => this.#takeBack(aside))
    }
    // What stays behind under a temporary name is swept by the next writer of this id.
    await this.#remove().catch(() => {})
  }

  async #remove(): Promise<void> {
    const { fs, layout, durable } = this.#place
    // Both renames may be on the medium, or only the first: the log must be there until both are.
    if (this.#wasPublished && durable) await fs.syncDirectory(layout.root)
    await removeTree(fs, this.#directory)
  }

  async #takeBack(aside: string): Promise<void> {
    try {
      await this.#place.fs.rename(this.#directory, aside)
    } catch (error) {
      if ((await this.#identityIn(aside)) !== this.identity) throw error
    }
    this.#directory = aside
  }
}

/** Waits for both, whatever becomes of either, so that nothing is under way when the first failure is acted upon. */
async function bothOf(first: Promise<void>, second: Promise<void>): Promise<void> {
  for (const outcome of await Promise.allSettled([first, second])) {
    if (outcome.status === 'rejected') throw outcome.reason
  }
}

async function writeId(fs: FileSystem, path: string, id: string, durable: boolean): Promise<void> {
  const { file } = await createPrivateFile(fs, path)
  try {
    await writeFully(file, Buffer.from(id, 'utf8'), 0)
    if (durable) await file.sync()
  } finally {
    await file.close()
  }
}
