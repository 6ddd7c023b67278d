/**
 * The file-system port over a {@link Disk}: records every operation, lets chosen calls fail, and holds locks that die
 * with it, as a process does. Several may stand on one disk one after the other: processes between which one died.
 */
import type { Change, Disk, DiskNode, FileNode, Inode, Sync } from '@session-persistence/conformance/crash-states'
import type { DirectoryEntry, FileStat, FileSystem, OpenFile, OpenMode } from '@session-persistence/file-log'
import { type Fault, systemError } from './fault.ts'
import { PathLookup } from './path-lookup.ts'

export interface Call {
  readonly name: string
  readonly path: string
}

export interface ModelOptions {
  /** Absolute path under which the disk appears. One process has one lock table: give each simulated process its own. */
  readonly mount: string
  readonly disk: Disk
  readonly record?: (operation: Change | Sync) => void
  /** Asked before every call, with its number from 0. */
  readonly decide?: (call: Call, index: number) => Fault | undefined
}

export class ModelFileSystem implements FileSystem {
  readonly syncMode = 'model'
  readonly mount: string
  readonly disk: Disk
  decide: NonNullable<ModelOptions['decide']>
  calls = 0
  readonly #record: (operation: Change | Sync) => void
  readonly #paths: PathLookup
  readonly #locked = new Set<Inode>()
  readonly #descriptors = new Map<number, DiskNode>()
  #nextDescriptor = 3

  constructor({ mount, disk, record = () => {}, decide = () => undefined }: ModelOptions) {
    this.mount = mount
    this.disk = disk
    this.decide = decide
    this.#record = record
    this.#paths = new PathLookup(mount, disk)
  }

  #do(operation: Change | Sync): void {
    this.disk.apply(operation)
    this.#record(operation)
  }

  /** Runs a call with the fault that is due, if any. */
  #call<T>(name: string, path: string, run: () => T): T {
    const fault = this.decide({ name, path }, this.calls++)
    if (fault === undefined) return run()
    if (fault.effect === 'after') run()
    throw systemError(fault)
  }

  async open(path: string, how: OpenMode, mode = 0o600): Promise<OpenFile> {
    return this.#call(`open ${how}`, path, () => {
      const exists = this.#paths.exists(path)
      if (how === 'new' && exists) throw systemError({ code: 'EEXIST' })
      if (!exists) {
        if (how !== 'new' && how !== 'lock') throw systemError({ code: 'ENOENT' })
        this.#do({ kind: 'create', ...this.#paths.place(path), inode: this.disk.newInode(), node: 'file', mode })
      }
      const node = this.#paths.node(path)
      if (node.kind === 'directory') throw systemError({ code: 'EISDIR' })
      return this.#handle(node, path, how)
    })
  }

  #handle(node: FileNode, path: string, how: OpenMode): OpenFile {
    const { inode } = node
    const write = (name: string, bytes: Uint8Array, offset: () => number): number => {
      const copy = Buffer.from(bytes)
      const fault = this.decide({ name, path }, this.calls++)
      if (fault === undefined || fault.effect !== 'before') {
        const part = fault?.effect === 'half' ? copy.subarray(0, copy.length >> 1) : copy
        if (part.length > 0) this.#do({ kind: 'write', inode, offset: offset(), bytes: part })
        if (how === 'append-durable') this.#do({ kind: fault === undefined ? 'sync' : 'sync-failed', inode })
      }
      if (fault !== undefined) throw systemError(fault)
      return bytes.length
    }
    let closed = false
    return {
      stat: async () => this.#call('stat', path, () => statOf(node)),
      read: async (into, position) => this.#call('read', path, () => node.bytes.copy(into, 0, position)),
      write: async (bytes, position) => write('write', bytes, () => position),
      append: async (bytes) => write('append', bytes, () => node.bytes.length),
      truncate: async (length) =>
        this.#call('truncate', path, () => {
          this.#do({ kind: 'truncate', inode, length })
        }),
      sync: async () => {
        const fault = this.decide({ name: 'sync', path }, this.calls++)
        // Whether or not some of it arrived: the pages count as clean from now on.
        this.#do({ kind: fault === undefined ? 'sync' : 'sync-failed', inode })
        if (fault !== undefined) throw systemError(fault)
      },
      chmod: async (mode) =>
        this.#call('chmod', path, () => {
          node.mode = mode
        }),
      tryLock: () => {
        if (this.#locked.has(inode)) return false
        this.#locked.add(inode)
        return true
      },
      close: async () => {
        const fault = this.decide({ name: 'close', path }, this.calls++)
        // Whatever it reports, a descriptor is gone after close.
        if (!closed && how === 'lock') this.#locked.delete(inode)
        closed = true
        if (fault !== undefined) throw systemError(fault)
      },
    }
  }

  async lstat(path: string): Promise<FileStat> {
    return this.#call('lstat', path, () => statOf(this.#paths.node(path)))
  }

  async realpath(path: string): Promise<string> {
    return this.#call('realpath', path, () => {
      if (!this.#paths.isAbove(path)) this.#paths.inode(path)
      return path
    })
  }

  async readDirectory(path: string): Promise<readonly string[]> {
    return this.#call('readDirectory', path, () => [...this.disk.directory(this.#paths.inode(path)).entries.keys()])
  }

  async mkdir(path: string, mode: number): Promise<void> {
    this.#call('mkdir', path, () => {
      if (this.#paths.exists(path)) throw systemError({ code: 'EEXIST' })
      this.#do({ kind: 'create', ...this.#paths.place(path), inode: this.disk.newInode(), node: 'directory', mode })
    })
  }

  async chmod(path: string, mode: number): Promise<void> {
    this.#call('chmod', path, () => {
      this.#paths.node(path).mode = mode
    })
  }

  async rename(from: string, to: string): Promise<void> {
    this.#call('rename', to, () => {
      const source = this.#paths.place(from)
      const moved = this.#paths.node(from)
      const target = this.#paths.place(to)
      if (this.#paths.exists(to)) {
        const found = this.#paths.node(to)
        if (found.kind === 'directory' && moved.kind !== 'directory') throw systemError({ code: 'EISDIR' })
        if (found.kind !== 'directory' && moved.kind === 'directory') throw systemError({ code: 'ENOTDIR' })
        if (found.kind === 'directory' && found.entries.size > 0) throw systemError({ code: 'ENOTEMPTY' })
      }
      this.#do({
        kind: 'rename',
        from: source.directory,
        name: source.name,
        to: target.directory,
        newName: target.name,
      })
    })
  }

  async unlink(path: string): Promise<void> {
    this.#call('unlink', path, () => {
      if (this.#paths.node(path).kind === 'directory') throw systemError({ code: 'EISDIR' })
      this.#do({ kind: 'unlink', ...this.#paths.place(path) })
    })
  }

  async rmdir(path: string): Promise<void> {
    this.#call('rmdir', path, () => {
      if (this.disk.directory(this.#paths.inode(path)).entries.size > 0) throw systemError({ code: 'ENOTEMPTY' })
      this.#do({ kind: 'unlink', ...this.#paths.place(path) })
    })
  }

  async syncDirectory(path: string): Promise<void> {
    this.#call('syncDirectory', path, () => {
      if (!this.#paths.isAbove(path)) this.#do({ kind: 'sync-directory', inode: this.#paths.inode(path) })
    })
  }

  watch(): () => void {
    return () => {}
  }

  lstatSync(path: string): FileStat {
    return this.#call('lstatSync', path, () => statOf(this.#paths.node(path)))
  }

  readDirectorySync(path: string): readonly DirectoryEntry[] {
    return this.#call('readDirectorySync', path, () =>
      [...this.disk.directory(this.#paths.inode(path)).entries].map(([name, inode]) => ({
        name,
        kind: this.disk.nodes.get(inode)?.kind ?? 'other',
      })),
    )
  }

  openSync(path: string): number {
    return this.#call('openSync', path, () => {
      const descriptor = this.#nextDescriptor++
      this.#descriptors.set(descriptor, this.#paths.node(path))
      return descriptor
    })
  }

  #descriptor(descriptor: number): DiskNode {
    const node = this.#descriptors.get(descriptor)
    if (node === undefined) throw systemError({ code: 'EBADF' })
    return node
  }

  fstatSync(descriptor: number): FileStat {
    return this.#call('fstatSync', '', () => statOf(this.#descriptor(descriptor)))
  }

  readSync(descriptor: number, into: Uint8Array, position: number): number {
    return this.#call('readSync', '', () => {
      const node = this.#descriptor(descriptor)
      if (node.kind === 'directory') throw systemError({ code: 'EISDIR' })
      return node.bytes.copy(into, 0, position)
    })
  }

  closeSync(descriptor: number): void {
    this.#descriptors.delete(descriptor)
  }
}

function statOf(node: DiskNode): FileStat {
  const { kind, inode, mode, revision } = node
  const size = node.kind === 'file' ? node.bytes.length : 0
  return { kind, size, identity: `1:${inode}`, mode, modifiedNs: revision }
}
