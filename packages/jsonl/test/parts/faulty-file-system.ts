/** A file system of which chosen calls fail, over the real one. Every call that touches the disk is counted and named. */
import type { FileSystem, OpenFile } from '@session-persistence/file-log'
import { nodeFileSystem } from '@session-persistence/file-log'

export interface Fault {
  readonly errno?: number
  readonly code: string
  /**
   * `before`: nothing happened. `after`: it happened, and the error came all the same. `half`: half the bytes were
   * written. `short`: the same, and no error came, only the count.
   */
  readonly effect: 'before' | 'after' | 'half' | 'short'
}

export const EIO: Fault = { code: 'EIO', errno: -5, effect: 'before' }

export interface Call {
  readonly name: string
  readonly path: string
}

export function systemError({ code, errno }: Pick<Fault, 'code' | 'errno'>): Error {
  return Object.assign(new Error(code), { code, ...(errno === undefined ? {} : { errno }) })
}

export class FaultyFileSystem implements FileSystem {
  readonly syncMode = nodeFileSystem.syncMode
  readonly calls: Call[] = []
  bytesRead = 0
  /** Asked before every call with its number from 0. */
  decide: (call: Call, index: number) => Fault | undefined = () => undefined

  /** Lets the n-th call from now fail, or all from then on. */
  failAt(index: number, fault: Fault, forever = false): void {
    const target = this.calls.length + index
    this.decide = (_, at) => (at === target || (forever && at > target) ? fault : undefined)
  }

  heal(): void {
    this.decide = () => undefined
  }

  #note(name: string, path: string): Fault | undefined {
    const call = { name, path }
    this.calls.push(call)
    return this.decide(call, this.calls.length - 1)
  }

  async #run<T>(name: string, path: string, call: () => Promise<T>): Promise<T> {
    const fault = this.#note(name, path)
    if (fault === undefined) return await call()
    if (fault.effect === 'after') await call()
    throw systemError(fault)
  }

  #runSync<T>(name: string, path: string, call: () => T): T {
    const fault = this.#note(name, path)
    if (fault !== undefined) throw systemError(fault)
    return call()
  }

  async open(...[path, how, mode]: Parameters<FileSystem['open']>): Promise<OpenFile> {
    const file = await this.#run(`open ${how}`, path, () => nodeFileSystem.open(path, how, mode))
    const wrote = async (
      name: string,
      bytes: Uint8Array,
      write: (bytes: Uint8Array) => Promise<number>,
    ): Promise<number> => {
      const fault = this.#note(name, path)
      if (fault === undefined) return await write(bytes)
      if (fault.effect === 'short') return await write(bytes.subarray(0, bytes.length >> 1))
      if (fault.effect !== 'before') await write(fault.effect === 'half' ? bytes.subarray(0, bytes.length >> 1) : bytes)
      throw systemError(fault)
    }
    return {
      stat: () => this.#run('stat', path, () => file.stat()),
      read: async (into, position) => {
        const count = await this.#run('read', path, () => file.read(into, position))
        this.bytesRead += count
        return count
      },
      write: (bytes, position) => wrote('write', bytes, (part) => file.write(part, position)),
      append: (bytes) => wrote('append', bytes, (part) => file.append(part)),
      truncate: (length) => this.#run('truncate', path, () => file.truncate(length)),
      sync: () => this.#run('sync', path, () => file.sync()),
      chmod: (bits) => this.#run('chmod', path, () => file.chmod(bits)),
      tryLock: () => file.tryLock(),
      // Whatever it reports, a descriptor is gone after close.
      close: async () => {
        const fault = this.#note('close', path)
        await file.close()
        if (fault !== undefined) throw systemError(fault)
      },
    }
  }

  lstat(path: string): ReturnType<FileSystem['lstat']> {
    return this.#run('lstat', path, () => nodeFileSystem.lstat(path))
  }

  realpath(path: string): Promise<string> {
    return this.#run('realpath', path, () => nodeFileSystem.realpath(path))
  }

  readDirectory(path: string): Promise<readonly string[]> {
    return this.#run('readDirectory', path, () => nodeFileSystem.readDirectory(path))
  }

  mkdir(path: string, mode: number): Promise<void> {
    return this.#run('mkdir', path, () => nodeFileSystem.mkdir(path, mode))
  }

  chmod(path: string, mode: number): Promise<void> {
    return this.#run('chmod', path, () => nodeFileSystem.chmod(path, mode))
  }

  rename(from: string, to: string): Promise<void> {
    return this.#run('rename', to, () => nodeFileSystem.rename(from, to))
  }

  unlink(path: string): Promise<void> {
    return this.#run('unlink', path, () => nodeFileSystem.unlink(path))
  }

  rmdir(path: string): Promise<void> {
    return this.#run('rmdir', path, () => nodeFileSystem.rmdir(path))
  }

  syncDirectory(path: string): Promise<void> {
    return this.#run('syncDirectory', path, () => nodeFileSystem.syncDirectory(path))
  }

  watch(path: string, onChange: () => void): () => void {
    return nodeFileSystem.watch(path, onChange)
  }

  lstatSync(path: string): ReturnType<FileSystem['lstatSync']> {
    return this.#runSync('lstatSync', path, () => nodeFileSystem.lstatSync(path))
  }

  readDirectorySync(path: string): ReturnType<FileSystem['readDirectorySync']> {
    return this.#runSync('readDirectorySync', path, () => nodeFileSystem.readDirectorySync(path))
  }

  openSync(path: string): number {
    return this.#runSync('openSync', path, () => nodeFileSystem.openSync(path))
  }

  fstatSync(descriptor: number): ReturnType<FileSystem['fstatSync']> {
    return this.#runSync('fstatSync', String(descriptor), () => nodeFileSystem.fstatSync(descriptor))
  }

  readSync(descriptor: number, into: Uint8Array, position: number): number {
    return this.#runSync('readSync', String(descriptor), () => nodeFileSystem.readSync(descriptor, into, position))
  }

  closeSync(descriptor: number): void {
    nodeFileSystem.closeSync(descriptor)
  }
}
