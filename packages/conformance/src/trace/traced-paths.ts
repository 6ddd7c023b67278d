/** Where the path arguments of traced calls lead on the modelled disk. */
import type { Disk, DiskNode } from '../crash/disk.ts'
import { type Inode, ROOT } from '../crash/operation.ts'
import { decodeString } from './parse-trace.ts'

export interface TracedEntry {
  readonly directory: Inode
  readonly name: string
}

export class TracedPaths {
  readonly #disk: Disk
  readonly #directories: readonly string[]
  readonly #opened: (argument: string) => Inode | undefined

  /** `opened`: the inode of a watched descriptor, for calls that start at a directory. */
  constructor(disk: Disk, directories: readonly string[], opened: (argument: string) => Inode | undefined) {
    this.#disk = disk
    this.#directories = directories
    this.#opened = opened
  }

  /** The path in an argument, where it leads to the directory or below. */
  named(argument: string): string | undefined {
    const path = decodeString(argument).toString()
    return this.#below(path) === undefined ? undefined : path
  }

  /** Whether an argument of whatever kind is such a path. */
  mentions(argument: string): boolean {
    return argument.startsWith('"') && this.named(argument) !== undefined
  }

  /** Names below the directory; undefined for a path elsewhere. */
  #below(path: string): readonly string[] | undefined {
    for (const directory of this.#directories) {
      if (path === directory) return []
      if (path.startsWith(`${directory}/`)) return namesOf(path.slice(directory.length + 1))
    }
    return undefined
  }

  #walk(start: Inode, names: readonly string[]): Inode | undefined {
    let inode: Inode | undefined = start
    for (const name of names) {
      const node: DiskNode | undefined = inode === undefined ? undefined : this.#disk.nodes.get(inode)
      inode = node?.kind === 'directory' ? node.entries.get(name) : undefined
    }
    return inode
  }

  /** Where a path starts, and the names that follow. */
  #resolve(from: string, argument: string): readonly [Inode, readonly string[]] | undefined {
    const path = decodeString(argument).toString()
    if (path.startsWith('/')) {
      const names = this.#below(path)
      return names === undefined ? undefined : [ROOT, names]
    }
    const start = from === 'AT_FDCWD' ? undefined : this.#opened(from)
    return start === undefined ? undefined : [start, namesOf(path)]
  }

  inode(from: string, argument: string): Inode | undefined {
    const resolved = this.#resolve(from, argument)
    return resolved === undefined ? undefined : this.#walk(...resolved)
  }

  /** The path of a file below the directory, relative to it. */
  pathOf(wanted: Inode, from: Inode = ROOT): string | undefined {
    for (const [name, inode] of this.#disk.directory(from).entries) {
      if (inode === wanted) return name
      const below = this.#disk.nodes.get(inode)?.kind === 'directory' ? this.pathOf(wanted, inode) : undefined
      if (below !== undefined) return `${name}/${below}`
    }
    return undefined
  }

  /** The entry that a path names, whether it is there or not; its directory is. */
  place(from: string, argument: string): TracedEntry | undefined {
    const [start, names] = this.#resolve(from, argument) ?? []
    const name = names?.at(-1)
    if (start === undefined || names === undefined || name === undefined) return undefined
    const directory = this.#walk(start, names.slice(0, -1))
    return directory === undefined ? undefined : { directory, name }
  }
}

function namesOf(path: string): readonly string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}
