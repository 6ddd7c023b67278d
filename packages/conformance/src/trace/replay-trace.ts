/**
 * A trace of a program's system calls as operations of the model, below one directory. What such a trace cannot show is
 * told, never guessed.
 */
import { Disk } from '../crash/disk.ts'
import type { DiskImage } from '../crash/disk-image.ts'
import type { Change, Inode, Operation, Sync } from '../crash/operation.ts'
import { Descriptors, type OpenDescriptor } from './descriptors.ts'
import { decodeString, decodeStrings, descriptorOf, type Syscall } from './parse-trace.ts'
import { TracedPaths } from './traced-paths.ts'

export interface ReplayedTrace<Expected> {
  readonly operations: readonly Operation<Expected>[]
  /** The disk as the program left it. */
  readonly disk: Disk
  /** Calls that the kernel was made to refuse. */
  readonly injected: number
  /** Paths below the directory, as they were given to a call that opens, whether it succeeded or not. */
  readonly opened: ReadonlySet<string>
  /** Paths in the directory of files that are written through memory, which no trace shows. */
  readonly mapped: ReadonlySet<string>
  /** Calls on files below the directory that are not understood, each by its name. */
  readonly unknown: ReadonlySet<string>
}

export interface TracedPlace {
  /** The directory, by each name that it has. */
  readonly directories: readonly string[]
  /** What is in it at the start; nothing by default. */
  readonly start?: DiskImage
}

/** `said` turns what was written to standard output into a promise, undefined where it is none. */
export function replayTrace<Expected>(
  syscalls: Iterable<Syscall>,
  place: TracedPlace,
  said: (text: string) => Expected | undefined,
): ReplayedTrace<Expected> {
  const replay = new TraceReplay(place, said)
  let injected = 0
  for (const syscall of syscalls) {
    if (syscall.injected) injected++
    replay.add(syscall)
  }
  const { operations, disk, opened, mapped, unknown } = replay
  return { operations, disk, injected, opened, mapped, unknown }
}

class TraceReplay<Expected> {
  readonly operations: Operation<Expected>[] = []
  readonly disk: Disk
  readonly opened: Set<string> = new Set()
  readonly mapped: Set<string> = new Set()
  readonly unknown: Set<string> = new Set()
  readonly #said: (text: string) => Expected | undefined
  readonly #open = new Descriptors()
  readonly #paths: TracedPaths

  constructor({ directories, start }: TracedPlace, said: (text: string) => Expected | undefined) {
    this.disk = start?.toDisk() ?? new Disk()
    this.#said = said
    this.#paths = new TracedPaths(this.disk, directories, (descriptor) => this.#open.get(descriptor)?.inode)
  }

  #do(operation: Change | Sync): void {
    this.disk.apply(operation)
    this.operations.push(operation)
  }

  add({ name, args, result, error }: Syscall): void {
    const [first = '', second = '', third = '', fourth = '', fifth = ''] = args
    const failed = error !== undefined || result === undefined
    if (name === 'fsync' || name === 'fdatasync') {
      this.#sync(first, failed)
      return
    }
    if (name === 'openat' || name === 'open') {
      const [from, path, flags] = name === 'open' ? ['AT_FDCWD', first, second] : [first, second, third]
      const named = this.#paths.named(path)
      if (named !== undefined) this.opened.add(named)
      if (!failed) this.#openFile(from, path, flags, result)
      return
    }
    if (failed) return
    switch (name) {
      case 'write':
        this.#write(first, decodeString(second).subarray(0, result), undefined)
        return
      case 'writev':
        this.#write(first, decodeStrings(second).subarray(0, result), undefined)
        return
      case 'pwrite64':
        this.#write(first, decodeString(second).subarray(0, result), Number(fourth))
        return
      case 'pwritev':
      case 'pwritev2':
        this.#write(first, decodeStrings(second).subarray(0, result), Number(fourth), fifth)
        return
      case 'lseek':
        this.#open.seek(first, result)
        return
      case 'ftruncate':
        this.#truncate(this.#open.get(first)?.inode, Number(second))
        return
      case 'truncate':
        this.#truncate(this.#paths.inode('AT_FDCWD', first), Number(second))
        return
      case 'fallocate':
        this.#allocate(first, second, Number(third) + Number(fourth))
        return
      case 'mkdir':
        this.#make('AT_FDCWD', first)
        return
      case 'mkdirat':
        this.#make(first, second)
        return
      case 'rename':
        this.#rename(['AT_FDCWD', first], ['AT_FDCWD', second], '')
        return
      case 'renameat':
      case 'renameat2':
        this.#rename([first, second], [third, fourth], fifth)
        return
      case 'link':
        this.#link(['AT_FDCWD', first], ['AT_FDCWD', second])
        return
      case 'linkat':
        this.#link([first, second], [third, fourth])
        return
      case 'unlink':
      case 'rmdir':
        this.#unlink('AT_FDCWD', first)
        return
      case 'unlinkat':
        this.#unlink(first, second)
        return
      case 'close':
        this.#open.close(first)
        return
      case 'dup':
      case 'dup2':
      case 'dup3':
        this.#open.copy(first, result)
        return
      case 'mmap':
        this.#map(fifth, third, fourth)
        return
      case 'sync':
      case 'syncfs':
        this.#syncAll()
        return
      default:
        this.#doubt(name, args)
    }
  }

  #openFile(from: string, path: string, flags: string, descriptor: number): void {
    this.#open.close(String(descriptor))
    let inode = this.#paths.inode(from, path)
    if (inode === undefined) {
      const place = this.#paths.place(from, path)
      if (place === undefined) return
      inode = this.disk.newInode()
      this.#do({ kind: 'create', ...place, inode, node: 'file', mode: 0o600 })
    } else if (flags.includes('O_TRUNC')) {
      this.#do({ kind: 'truncate', inode, length: 0 })
    }
    const syncs = flags.includes('O_DSYNC') || flags.includes('O_SYNC')
    this.#open.add(descriptor, { inode, position: 0, appends: flags.includes('O_APPEND'), syncs })
  }

  #write(argument: string, bytes: Buffer, offset: number | undefined, flags = ''): void {
    const file = this.#open.get(argument)
    if (file === undefined && descriptorOf(argument) === 1) {
      const expected = this.#said(bytes.toString())
      if (expected !== undefined) this.operations.push({ kind: 'mark', expected })
    }
    if (file === undefined || bytes.length === 0) return
    this.#store(file, bytes, offset === -1 ? undefined : offset)
    if (file.syncs || flags.includes('SYNC')) this.#do({ kind: 'sync', inode: file.inode })
  }

  #store(file: OpenDescriptor, bytes: Buffer, offset: number | undefined): void {
    const { inode, appends } = file
    const at = appends ? this.disk.file(inode).bytes.length : (offset ?? file.position)
    this.#do({ kind: 'write', inode, offset: at, bytes })
    if (offset === undefined) file.position = at + bytes.length
  }

  #truncate(inode: Inode | undefined, length: number): void {
    if (inode !== undefined) this.#do({ kind: 'truncate', inode, length })
  }

  /** Space is no content: only a file that grows by it has changed. */
  #allocate(argument: string, mode: string, end: number): void {
    const inode = this.#open.get(argument)?.inode
    if (inode === undefined || mode === 'FALLOC_FL_KEEP_SIZE') return
    if (mode !== '0') this.unknown.add(`fallocate with ${mode}`)
    else if (end > this.disk.file(inode).bytes.length) this.#do({ kind: 'truncate', inode, length: end })
  }

  #sync(argument: string, failed: boolean): void {
    const inode = this.#open.get(argument)?.inode
    if (inode === undefined) return
    if (failed) this.#do({ kind: 'sync-failed', inode })
    else this.#do({ kind: this.disk.nodes.get(inode)?.kind === 'directory' ? 'sync-directory' : 'sync', inode })
  }

  #syncAll(): void {
    for (const [inode, { kind }] of this.disk.nodes) {
      this.#do({ kind: kind === 'directory' ? 'sync-directory' : 'sync', inode })
    }
  }

  #make(from: string, path: string): void {
    const place = this.#paths.place(from, path)
    if (place === undefined) return
    this.#do({ kind: 'create', ...place, inode: this.disk.newInode(), node: 'directory', mode: 0o700 })
  }

  #rename(from: readonly [string, string], to: readonly [string, string], flags: string): void {
    const source = this.#paths.place(...from)
    const target = this.#paths.place(...to)
    if (source === undefined && target === undefined) return
    const known = source !== undefined && this.disk.directory(source.directory).entries.has(source.name)
    if (!known || target === undefined || /EXCHANGE|WHITEOUT/.test(flags)) {
      this.unknown.add('rename from or to another directory, or in another way')
      return
    }
    this.#do({ kind: 'rename', from: source.directory, name: source.name, to: target.directory, newName: target.name })
  }

  #link(from: readonly [string, string], to: readonly [string, string]): void {
    const inode = this.#paths.inode(...from)
    const target = this.#paths.place(...to)
    if (inode !== undefined && target !== undefined) this.#do({ kind: 'link', ...target, inode })
    else if (target !== undefined) this.unknown.add('link to a file that is elsewhere')
  }

  #unlink(from: string, path: string): void {
    const place = this.#paths.place(from, path)
    if (place !== undefined) this.#do({ kind: 'unlink', ...place })
  }

  #map(argument: string, protection: string, flags: string): void {
    const inode = this.#open.get(argument)?.inode
    if (inode === undefined || !protection.includes('PROT_WRITE') || !flags.includes('MAP_SHARED')) return
    this.mapped.add(this.#paths.pathOf(inode) ?? '')
  }

  /** A call that changes files in a way that is not replayed, where it touches one of these. */
  #doubt(name: string, args: readonly string[]): void {
    if (name === 'io_uring_setup') this.unknown.add(name)
    if (name === 'sync_file_range') return // promises nothing
    const touches = args.some((argument) => this.#open.has(argument) || this.#paths.mentions(argument))
    if (touches) this.unknown.add(name)
  }
}
