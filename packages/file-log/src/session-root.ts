/** The root as a storage uses it: where its sessions are, and the way to the lock of one. Only writers make anything. */
import type { FileSystem } from './file-system.ts'
import { attempt, isMissing } from './io-error.ts'
import { Layout } from './layout.ts'
import { ensurePrivateDirectory } from './private-path.ts'
import { RootDirectory } from './root-directory.ts'
import { sweepRoot, sweepSession } from './sweep.ts'
import { WriterLock } from './writer-lock.ts'

export interface LockedSession {
  readonly layout: Layout
  readonly lock: WriterLock
}

export class SessionRoot {
  readonly #fs: FileSystem
  readonly #root: RootDirectory
  readonly #logName: string
  readonly #sync: boolean
  #layout: Layout | undefined
  #prepared: Promise<void> | undefined

  constructor(fs: FileSystem, root: string, logName: string, sync: boolean) {
    this.#fs = fs
    this.#root = new RootDirectory(fs, root, sync)
    this.#logName = logName
    this.#sync = sync
  }

  /** As given, made absolute. */
  get given(): string {
    return this.#root.given
  }

  /** The layout, or undefined while there is no root. Writes nothing. */
  async find(): Promise<Layout | undefined> {
    if (this.#layout !== undefined) return this.#layout
    const root = await this.#root.find()
    return root === undefined ? undefined : this.#adopt(root)
  }

  /** Takes the lock of an id, then removes what a dead holder left. Makes the root where it is missing. */
  async lock(id: string, name: string): Promise<LockedSession> {
    const layout = await this.#ensure()
    const lock = await this.#acquire(layout, name, id)
    try {
      if (lock.abandoned) await sweepSession(this.#fs, layout, name, this.#sync)
    } catch (error) {
      await lock.release().catch(() => {})
      throw error
    }
    return { layout, lock }
  }

  async #acquire(layout: Layout, name: string, id: string): Promise<WriterLock> {
    try {
      return await WriterLock.acquire(this.#fs, layout.locks, name, id)
    } catch (error) {
      if (!(error instanceof Error) || !isMissing(error.cause)) throw error
    }
    // Somebody removed the root, or its lock directory, since this process made them.
    await attempt('make the root', layout.root, () => this.#root.remake())
    await this.#prepare(layout)
    return await WriterLock.acquire(this.#fs, layout.locks, name, id)
  }

  /** Root and lock directory; the first time, also without what crashed writers left. */
  async #ensure(): Promise<Layout> {
    const layout = this.#layout ?? this.#adopt(await this.#root.ensure())
    this.#prepared ??= this.#prepare(layout).catch((error: unknown) => {
      this.#prepared = undefined
      throw error
    })
    await this.#prepared
    return layout
  }

  async #prepare(layout: Layout): Promise<void> {
    // A reader may have found the root; only a writer sees to it that its name is on the medium.
    await this.#root.ensure()
    await attempt('make the lock directory', layout.locks, () => ensurePrivateDirectory(this.#fs, layout.locks))
    await sweepRoot(this.#fs, layout, this.#sync)
  }

  #adopt(root: string): Layout {
    this.#layout ??= new Layout(root, this.#logName)
    return this.#layout
  }
}
