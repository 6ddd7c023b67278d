/**
 * The root, resolved once: a symlinked parent is followed even with O_NOFOLLOW, so every later path is built on the
 * real one (reliability.md, fact 13). Reading never makes it; the first writer does.
 */
import { dirname, resolve } from 'node:path'
import { SessionError } from '@session-persistence/core'
import type { FileSystem } from './file-system.ts'
import { ioError, isMissing, systemErrorName } from './io-error.ts'
import { makePrivateDirectory } from './private-path.ts'

/** Errors of opening a directory of others to sync it. */
const FOREIGN: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EINVAL'])

export class RootDirectory {
  readonly #fs: FileSystem
  readonly #given: string
  readonly #sync: boolean
  #real: string | undefined
  #anchored = false

  constructor(fs: FileSystem, root: string, sync: boolean) {
    if (typeof root !== 'string' || root === '' || root.includes('\0')) {
      throw new SessionError('INVALID_ARGUMENT', '`root` must be the path of a directory')
    }
    this.#fs = fs
    try {
      this.#given = resolve(root)
    } catch (error) {
      // The working directory of the process is gone.
      throw ioError(error, 'resolve the root', root)
    }
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
    if (found === undefined) return await this.remake()
    if (!this.#anchored) {
      await this.#anchor(found)
      this.#anchored = true
    }
    return found
  }

  /** Puts the name of a directory that is there on the medium: whoever made it may have died before that. */
  async #anchor(path: string): Promise<void> {
    if (!this.#sync) return
    try {
      await this.#fs.syncDirectory(dirname(await this.#fs.realpath(path)))
    } catch (error) {
      // A directory that we may not read is not one that we made something in.
      if (FOREIGN.has(systemErrorName(error) ?? '')) return
      throw ioError(error, 'make the name of the root durable', path)
    }
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
    this.#anchored = true
    if (made === undefined) throw new SessionError('IO', 'the root vanished while it was made', { path: this.#given })
    return made
  }

  /** A name is on the medium before anything is made below it, so that no crash leaves a gap further up. */
  async #make(path: string): Promise<void> {
    const parent = dirname(path)
    if (await this.#isMissing(parent)) await this.#make(parent)
    else await this.#anchor(parent)
    try {
      await makePrivateDirectory(this.#fs, path, 'store')
    } catch (error) {
      if (systemErrorName(error) !== 'EEXIST') throw error
      await this.#anchor(path)
      return
    }
    if (this.#sync) await this.#fs.syncDirectory(await this.#fs.realpath(parent))
  }

  async #isMissing(path: string): Promise<boolean> {
    try {
      await this.#fs.realpath(path)
      return false
    } catch (error) {
      if (isMissing(error) && dirname(path) !== path) return true
      throw error
    }
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
