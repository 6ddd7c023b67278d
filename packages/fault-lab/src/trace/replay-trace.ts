/** A trace of a program's system calls as operations of the model, below one directory that was empty at its start. */
import type { Disk } from '../model/disk.ts'
import { Disk as NewDisk } from '../model/disk.ts'
import { type Change, type Inode, type Operation, ROOT, type Sync } from '../model/operation.ts'
import { decodeString, decodeStrings, descriptorOf, type Syscall } from './parse-trace.ts'

interface OpenDescriptor {
  readonly inode: Inode
  position: number
  readonly appends: boolean
  readonly syncs: boolean
}

export interface ReplayedTrace<Expected> {
  readonly operations: readonly Operation<Expected>[]
  /** The disk as the program left it. */
  readonly disk: Disk
  readonly injected: number
}

/** `said` turns what was written to standard output into a promise, undefined where it is none. */
export function replayTrace<Expected>(
  syscalls: Iterable<Syscall>,
  directory: string,
  said: (text: string) => Expected | undefined,
): ReplayedTrace<Expected> {
  const replay = new TraceReplay(directory, said)
  let injected = 0
  for (const syscall of syscalls) {
    if (syscall.injected) injected++
    replay.add(syscall)
  }
  return { operations: replay.operations, disk: replay.disk, injected }
}

class TraceReplay<Expected> {
  readonly operations: Operation<Expected>[] = []
  readonly disk: Disk = new NewDisk()
  readonly #directory: string
  readonly #said: (text: string) => Expected | undefined
  readonly #open = new Map<number, OpenDescriptor>()

  constructor(directory: string, said: (text: string) => Expected | undefined) {
    this.#directory = directory
    this.#said = said
  }

  #do(operation: Change | Sync): void {
    this.disk.apply(operation)
    this.operations.push(operation)
  }

  add(syscall: Syscall): void {
    const { name, args, result, error } = syscall
    const [first = '', second = '', third = '', fourth = ''] = args
    const failed = error !== undefined || result === undefined
    if (name === 'fsync' || name === 'fdatasync') {
      this.#sync(descriptorOf(first), failed)
      return
    }
    if (failed) return
    switch (name) {
      case 'openat':
        this.#openFile(second, third, result)
        return
      case 'write':
        this.#write(descriptorOf(first), decodeString(second).subarray(0, result), undefined)
        return
      case 'writev':
        this.#write(descriptorOf(first), decodeStrings(second).subarray(0, result), undefined)
        return
      case 'pwrite64':
        this.#write(descriptorOf(first), decodeString(second).subarray(0, result), Number(fourth))
        return
      case 'lseek': {
        const file = this.#open.get(descriptorOf(first))
        if (file !== undefined) file.position = result
        return
      }
      case 'ftruncate':
        this.#truncate(descriptorOf(first), Number(second))
        return
      case 'mkdir':
        this.#make(first)
        return
      case 'rename':
        this.#rename(first, second)
        return
      case 'link':
        this.#link(first, second)
        return
      case 'unlink':
      case 'rmdir':
        this.#unlink(first)
        return
      case 'close':
        this.#open.delete(descriptorOf(first))
    }
  }

  /** Names below the directory; undefined for a path elsewhere. */
  #names(argument: string): readonly string[] | undefined {
    const path = decodeString(argument).toString()
    if (path === this.#directory) return []
    if (!path.startsWith(`${this.#directory}/`)) return undefined
    return path.slice(this.#directory.length + 1).split('/')
  }

  #lookUp(names: readonly string[]): Inode | undefined {
    let inode: Inode | undefined = ROOT
    for (const name of names) inode = inode === undefined ? undefined : this.disk.directory(inode).entries.get(name)
    return inode
  }

  #place(argument: string): { readonly directory: Inode; readonly name: string } | undefined {
    const names = this.#names(argument)
    const name = names?.at(-1)
    const directory = names === undefined ? undefined : this.#lookUp(names.slice(0, -1))
    return name === undefined || directory === undefined ? undefined : { directory, name }
  }

  #openFile(path: string, flags: string, descriptor: number): void {
    this.#open.delete(descriptor)
    const names = this.#names(path)
    if (names === undefined) return
    let inode = this.#lookUp(names)
    if (inode === undefined) {
      const place = this.#place(path)
      if (place === undefined) return
      inode = this.disk.newInode()
      this.#do({ kind: 'create', ...place, inode, node: 'file', mode: 0o600 })
    } else if (flags.includes('O_TRUNC')) {
      this.#do({ kind: 'truncate', inode, length: 0 })
    }
    const syncs = flags.includes('O_DSYNC') || flags.includes('O_SYNC')
    this.#open.set(descriptor, { inode, position: 0, appends: flags.includes('O_APPEND'), syncs })
  }

  #write(descriptor: number, bytes: Buffer, offset: number | undefined): void {
    if (descriptor === 1) {
      const expected = this.#said(bytes.toString())
      if (expected !== undefined) this.operations.push({ kind: 'mark', expected })
      return
    }
    const file = this.#open.get(descriptor)
    if (file === undefined || bytes.length === 0) return
    const { inode, appends, syncs } = file
    const at = appends ? this.disk.file(inode).bytes.length : (offset ?? file.position)
    this.#do({ kind: 'write', inode, offset: at, bytes })
    if (offset === undefined) file.position = at + bytes.length
    if (syncs) this.#do({ kind: 'sync', inode })
  }

  #truncate(descriptor: number, length: number): void {
    const file = this.#open.get(descriptor)
    if (file !== undefined) this.#do({ kind: 'truncate', inode: file.inode, length })
  }

  #sync(descriptor: number, failed: boolean): void {
    const file = this.#open.get(descriptor)
    if (file === undefined) return
    const { inode } = file
    if (failed) this.#do({ kind: 'sync-failed', inode })
    else this.#do({ kind: this.disk.nodes.get(inode)?.kind === 'directory' ? 'sync-directory' : 'sync', inode })
  }

  #make(path: string): void {
    const place = this.#place(path)
    if (place === undefined) return
    this.#do({ kind: 'create', ...place, inode: this.disk.newInode(), node: 'directory', mode: 0o700 })
  }

  #rename(from: string, to: string): void {
    const source = this.#place(from)
    const target = this.#place(to)
    if (source === undefined || target === undefined) return
    this.#do({ kind: 'rename', from: source.directory, name: source.name, to: target.directory, newName: target.name })
  }

  #link(from: string, to: string): void {
    const names = this.#names(from)
    const inode = names === undefined ? undefined : this.#lookUp(names)
    const target = this.#place(to)
    if (inode !== undefined && target !== undefined) this.#do({ kind: 'link', ...target, inode })
  }

  #unlink(path: string): void {
    const place = this.#place(path)
    if (place !== undefined) this.#do({ kind: 'unlink', ...place })
  }
}
