/** The file-system port over a map: for tests that open one log ten thousand times. No links, no permissions, no locks. */
import { dirname, join } from 'node:path'
import type { DirectoryEntry, FileStat, FileSystem, OpenFile } from '@session-persistence/file-log'

interface Node {
  kind: 'file' | 'directory'
  bytes: Buffer
  mode: number
  readonly inode: number
  revision: bigint
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code })
}

export class MemoryFileSystem implements FileSystem {
  readonly syncMode = 'none'
  readonly #nodes = new Map<string, Node>()
  readonly #open = new Map<number, Node>()
  #inodes = 0

  constructor(root: string) {
    this.#nodes.set(root, this.#node('directory', 0o700))
  }

  /** Replaces the bytes of a file in place. */
  set(path: string, bytes: Buffer): void {
    const node = this.#get(path)
    node.bytes = bytes
    node.revision++
  }

  bytes(path: string): Buffer {
    return this.#get(path).bytes
  }

  #node(kind: Node['kind'], mode: number): Node {
    return { kind, bytes: Buffer.alloc(0), mode, inode: ++this.#inodes, revision: 0n }
  }

  #get(path: string): Node {
    const node = this.#nodes.get(path)
    if (node === undefined) throw systemError('ENOENT')
    return node
  }

  #stat({ kind, bytes, mode, inode, revision }: Node): FileStat {
    return { kind, size: bytes.length, identity: String(inode), mode, modifiedNs: revision }
  }

  async open(path: string, how: string, mode = 0o600): Promise<OpenFile> {
    let node = this.#nodes.get(path)
    if (how === 'new' && node !== undefined) throw systemError('EEXIST')
    if ((how === 'new' || how === 'lock') && node === undefined) {
      node = this.#node('file', mode)
      this.#nodes.set(path, node)
    }
    if (node === undefined) throw systemError('ENOENT')
    return this.#handle(node)
  }

  #handle(node: Node): OpenFile {
    const write = (bytes: Uint8Array, position: number): number => {
      const size = Math.max(node.bytes.length, position + bytes.length)
      const next = Buffer.alloc(size)
      node.bytes.copy(next)
      next.set(bytes, position)
      node.bytes = next
      node.revision++
      return bytes.length
    }
    return {
      stat: async () => this.#stat(node),
      read: async (into, position) => node.bytes.copy(into, 0, position),
      write: async (bytes, position) => write(bytes, position),
      append: async (bytes) => write(bytes, node.bytes.length),
      truncate: async (length) => {
        node.bytes = Buffer.from(node.bytes.subarray(0, length))
        node.revision++
      },
      sync: async () => {},
      chmod: async (mode) => {
        node.mode = mode
      },
      tryLock: () => true,
      close: async () => {},
    }
  }

  async lstat(path: string): Promise<FileStat> {
    return this.lstatSync(path)
  }

  async realpath(path: string): Promise<string> {
    this.#get(path)
    return path
  }

  async readDirectory(path: string): Promise<readonly string[]> {
    return this.readDirectorySync(path).map(({ name }) => name)
  }

  async mkdir(path: string, mode: number): Promise<void> {
    if (this.#nodes.has(path)) throw systemError('EEXIST')
    this.#get(dirname(path))
    this.#nodes.set(path, this.#node('directory', mode))
  }

  async chmod(path: string, mode: number): Promise<void> {
    this.#get(path).mode = mode
  }

  async rename(from: string, to: string): Promise<void> {
    const moved = [...this.#nodes].filter(([path]) => path === from || path.startsWith(`${from}/`))
    if (moved.length === 0) throw systemError('ENOENT')
    for (const [path, node] of moved) {
      this.#nodes.delete(path)
      this.#nodes.set(`${to}${path.slice(from.length)}`, node)
    }
  }

  async unlink(path: string): Promise<void> {
    this.#get(path)
    this.#nodes.delete(path)
  }

  async rmdir(path: string): Promise<void> {
    await this.unlink(path)
  }

  async syncDirectory(): Promise<void> {}

  watch(): () => void {
    return () => {}
  }

  lstatSync(path: string): FileStat {
    return this.#stat(this.#get(path))
  }

  readDirectorySync(path: string): readonly DirectoryEntry[] {
    this.#get(path)
    const entries: DirectoryEntry[] = []
    for (const [child, { kind }] of this.#nodes) {
      const name = child.slice(path.length + 1)
      if (child === join(path, name) && name !== '' && !name.includes('/')) entries.push({ name, kind })
    }
    return entries
  }

  openSync(path: string): number {
    const descriptor = this.#open.size + 1
    this.#open.set(descriptor, this.#get(path))
    return descriptor
  }

  #opened(descriptor: number): Node {
    const node = this.#open.get(descriptor)
    if (node === undefined) throw systemError('EBADF')
    return node
  }

  fstatSync(descriptor: number): FileStat {
    return this.#stat(this.#opened(descriptor))
  }

  readSync(descriptor: number, into: Uint8Array, position: number): number {
    return this.#opened(descriptor).bytes.copy(into, 0, position)
  }

  closeSync(descriptor: number): void {
    this.#open.delete(descriptor)
  }
}
