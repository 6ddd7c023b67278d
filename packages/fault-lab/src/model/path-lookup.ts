/** Where a path leads on a {@link Disk} that appears under a mount. Errors are those of the operating system. */
import { type Disk, type DiskNode, type Inode, ROOT } from '@session-persistence/conformance/crash-states'
import { systemErrorName } from '@session-persistence/file-log'
import { systemError } from './fault.ts'

export class PathLookup {
  readonly #mount: string
  readonly #disk: Disk

  constructor(mount: string, disk: Disk) {
    this.#mount = mount
    this.#disk = disk
  }

  #names(path: string): readonly string[] {
    if (path !== this.#mount && !path.startsWith(`${this.#mount}/`)) throw systemError({ code: 'ENOENT' })
    return path
      .slice(this.#mount.length)
      .split('/')
      .filter((name) => name !== '')
  }

  /** Above the mount everything is there, and durable. */
  isAbove(path: string): boolean {
    return path === '/' || this.#mount.startsWith(`${path}/`)
  }

  inode(path: string): Inode {
    let inode = ROOT
    for (const name of this.#names(path)) {
      const node = this.#disk.nodes.get(inode)
      if (node?.kind !== 'directory') throw systemError({ code: 'ENOTDIR' })
      const child = node.entries.get(name)
      if (child === undefined) throw systemError({ code: 'ENOENT' })
      inode = child
    }
    return inode
  }

  node(path: string): DiskNode {
    const node = this.#disk.nodes.get(this.inode(path))
    if (node === undefined) throw systemError({ code: 'ENOENT' })
    return node
  }

  place(path: string): { readonly directory: Inode; readonly name: string } {
    const names = this.#names(path)
    const name = names.at(-1)
    if (name === undefined) throw systemError({ code: 'EBUSY' })
    const directory = this.inode([this.#mount, ...names.slice(0, -1)].join('/'))
    if (this.#disk.nodes.get(directory)?.kind !== 'directory') throw systemError({ code: 'ENOTDIR' })
    return { directory, name }
  }

  exists(path: string): boolean {
    try {
      this.inode(path)
      return true
    } catch (error) {
      if (systemErrorName(error) === 'ENOENT') return false
      throw error
    }
  }
}
