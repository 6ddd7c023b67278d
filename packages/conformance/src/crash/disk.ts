/**
 * A file system with a medium under it: what a program sees, and what power loss would leave. Data becomes durable by
 * `sync` of its file, a name by `sync-directory` of its directory, and neither by anything else. The worst that the
 * published assumptions allow (docs/reliability.md): no real file system forgets that much.
 */
import { type Change, type Inode, ROOT, type Sync } from './operation.ts'

export interface FileNode {
  readonly kind: 'file'
  readonly inode: Inode
  mode: number
  /** What the program sees. */
  bytes: Buffer
  /** What is on the medium for certain. */
  durable: Buffer
  /** Shortest length since the last sync: bytes behind it were cut or added, before it at most overwritten. */
  shortest: number
  /** Written since the last sync, as `[start, end)`. */
  dirty: readonly (readonly [number, number])[]
  revision: bigint
}

export interface DirectoryNode {
  readonly kind: 'directory'
  readonly inode: Inode
  mode: number
  entries: Map<string, Inode>
  durable: Map<string, Inode>
  revision: bigint
}

export type DiskNode = FileNode | DirectoryNode

/** A change of directory entries that is not on the medium yet. Atomic each, lost or kept independently of all others. */
export type EntryChange =
  | { readonly kind: 'set'; readonly directory: Inode; readonly name: string; readonly inode: Inode }
  | { readonly kind: 'remove'; readonly directory: Inode; readonly name: string }
  | {
      readonly kind: 'move'
      readonly directory: Inode
      readonly name: string
      readonly to: Inode
      readonly newName: string
      readonly inode: Inode
    }

export type Entries = Map<Inode, Map<string, Inode>>

export class Disk {
  readonly nodes: Map<Inode, DiskNode> = new Map<Inode, DiskNode>()
  /** In order. */
  pendingEntries: EntryChange[] = []
  #nextInode = ROOT + 1

  constructor() {
    this.nodes.set(ROOT, emptyDirectory(ROOT, 0o700))
  }

  newInode(): Inode {
    return this.#nextInode++
  }

  /** A file, or a directory where there are no bytes, that was there before anything was recorded. */
  addDurable(parent: Inode, name: string, bytes: Buffer | undefined): Inode {
    const inode = this.newInode()
    const node = bytes === undefined ? emptyDirectory(inode, 0o700) : durableFile(inode, bytes)
    this.nodes.set(inode, node)
    const { entries, durable } = this.directory(parent)
    entries.set(name, inode)
    durable.set(name, inode)
    return inode
  }

  file(inode: Inode): FileNode {
    const node = this.nodes.get(inode)
    if (node?.kind !== 'file') throw new Error(`inode ${inode} is no file`)
    return node
  }

  directory(inode: Inode): DirectoryNode {
    const node = this.nodes.get(inode)
    if (node?.kind !== 'directory') throw new Error(`inode ${inode} is no directory`)
    return node
  }

  apply(operation: Change | Sync): void {
    switch (operation.kind) {
      case 'create': {
        const { inode, directory, name, node, mode } = operation
        this.nodes.set(
          inode,
          node === 'directory' ? emptyDirectory(inode, mode) : durableFile(inode, Buffer.alloc(0), mode),
        )
        this.#nextInode = Math.max(this.#nextInode, inode + 1)
        this.#enter({ kind: 'set', directory, name, inode })
        return
      }
      case 'link':
        this.#enter({ ...operation, kind: 'set' })
        return
      case 'unlink':
        this.#enter({ kind: 'remove', directory: operation.directory, name: operation.name })
        return
      case 'rename': {
        const { from, name, to, newName } = operation
        const inode = this.directory(from).entries.get(name)
        if (inode === undefined) throw new Error(`nothing to rename: ${name}`)
        this.#enter({ kind: 'move', directory: from, name, to, newName, inode })
        return
      }
      case 'write':
        this.#write(this.file(operation.inode), operation.bytes, operation.offset)
        return
      case 'truncate':
        this.#truncate(this.file(operation.inode), operation.length)
        return
      case 'sync':
        this.#sync(operation.inode)
        return
      case 'sync-failed': {
        const node = this.nodes.get(operation.inode)
        if (node?.kind === 'file') node.dirty = []
        return
      }
      case 'sync-directory':
        this.#syncDirectory(operation.inode)
    }
  }

  #enter(change: EntryChange): void {
    this.pendingEntries.push(change)
    applyEntry((inode) => this.directory(inode).entries, change)
    this.directory(change.directory).revision++
    if (change.kind === 'move') this.directory(change.to).revision++
  }

  #write(node: FileNode, bytes: Buffer, offset: number): void {
    const end = offset + bytes.length
    const next = Buffer.alloc(Math.max(node.bytes.length, end))
    node.bytes.copy(next)
    bytes.copy(next, offset)
    node.bytes = next
    node.dirty = [...node.dirty, [offset, end]]
    node.revision++
  }

  #truncate(node: FileNode, length: number): void {
    const next = Buffer.alloc(length)
    node.bytes.copy(next)
    node.bytes = next
    node.shortest = Math.min(node.shortest, length)
    node.dirty = node.dirty.flatMap(([start, end]) => (start < length ? [[start, Math.min(end, length)] as const] : []))
    node.revision++
  }

  #sync(inode: Inode): void {
    const node = this.nodes.get(inode)
    if (node === undefined) return
    if (node.kind === 'directory') {
      this.#syncDirectory(inode)
      return
    }
    // Pages that an earlier sync failed to write are clean by now: where the file grew, they are holes.
    const durable = Buffer.alloc(node.bytes.length)
    node.durable.copy(durable, 0, 0, Math.min(node.durable.length, node.shortest))
    for (const [start, end] of node.dirty) node.bytes.copy(durable, start, start, end)
    node.durable = durable
    node.shortest = durable.length
    node.dirty = []
  }

  #syncDirectory(inode: Inode): void {
    const left: EntryChange[] = []
    for (const change of this.pendingEntries) {
      const touches = change.directory === inode || (change.kind === 'move' && change.to === inode)
      if (touches) applyEntry((at) => this.directory(at).durable, change)
      else left.push(change)
    }
    this.pendingEntries = left
  }
}

/** Applies one change to entries, whatever else of them was lost. */
export function applyEntry(entriesOf: (inode: Inode) => Map<string, Inode>, change: EntryChange): void {
  const entries = entriesOf(change.directory)
  if (change.kind === 'set') entries.set(change.name, change.inode)
  else entries.delete(change.name)
  if (change.kind === 'move') entriesOf(change.to).set(change.newName, change.inode)
}

function durableFile(inode: Inode, bytes: Buffer, mode = 0o600): FileNode {
  return { kind: 'file', inode, mode, bytes, durable: bytes, shortest: bytes.length, dirty: [], revision: 0n }
}

function emptyDirectory(inode: Inode, mode: number): DirectoryNode {
  return { kind: 'directory', inode, mode, entries: new Map(), durable: new Map(), revision: 0n }
}
