/**
 * The root, resolved once: a symlinked parent is followed even with O_NOFOLLOW, so every later path is built on the
 * real one (reliability.md, fact 13). Reading never makes it; the first writer does.
 */
import { dirname, resolve } from 'node:path'
import { SessionError } from '@session-persistence/core'
import type { FileSystem } from './file-system.ts'
import { ioError, isMissing, systemErrorName } from './io-error.ts'
import { makePrivateDirectory } from './private-path.ts'

export class RootDirectory {
  readonly #fs: FileSystem
  readonly #given: string
  readonly #sync: boolean
  #real: string | undefined

  constructor(fs: FileSystem, root: string, sync: boolean) {
    if (typeof root !== 'string' || root === '' || root.includes('\0')) {
      throw new SessionError('INVALID_ARGUMENT', '`root` must be the path of a directory')
    }
    this.#fs = fs
    this.#given = resolve(root)
    this.#sync = sync
  }

  /** As given, made absolute. */
  get given(): string {
    return this.#given
  }

  /** The real path, or undefined while there is no such directory. */
  async find(): Promise<string | undefined> {
    if (this.#real !== undefined) return this.#real
    let real: string
    try {
      real = await this.#fs.realpath(this.#given)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw ioError(error, 'resolve the root', this.#given)
    }
    await this.#requireDirectory(real)
    this.#real = real
    return real
  }

  /** The real path; makes the directory, 0700 and durable, when it is missing. */
  async ensure(): Promise<string> {
    const found = await this.find()
    if (found !== undefined) return found
    return await this.remake()
  }

  /** Makes the directory, where it may have been removed since it was found. */
  async remake(): Promise<string> {
    this.#real = undefined
    try {
      await this.#make(this.#given)
    } catch (error) {
      throw ioError(error, 'make the root', this.#given)
    }
    const made = await this.find()
    if (made === undefined) throw new SessionError('IO', 'the root vanished while it was made', { path: this.#given })
    return made
  }

  async #make(path: string): Promise<void> {
    try {
      await makePrivateDirectory(this.#fs, path)
    } catch (error) {
      if (systemErrorName(error) === 'EEXIST') return
      if (!isMissing(error) || dirname(path) === path) throw error
      await this.#make(dirname(path))
      await this.#make(path)
      return
    }
    if (this.#sync) await this.#fs.syncDirectory(dirname(path))
  }

  async #requireDirectory(real: string): Promise<void> {
    const stat = await this.#fs.lstat(real).catch((error: unknown) => {
      throw ioError(error, 'look at the root', real)
    })
    if (stat.kind !== 'directory') {
      throw new SessionError('PERMISSION_DENIED', 'the root is not a directory', { path: real, found: stat.kind })
    }
  }
}
