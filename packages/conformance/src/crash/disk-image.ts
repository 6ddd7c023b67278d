/** What is on a medium: every file and directory by path. What a machine finds when it starts again. */
import { hash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Disk } from './disk.ts'
import { ROOT } from './operation.ts'

export class DiskImage {
  /** Paths relative to the root, parents first; a directory has no bytes. */
  readonly nodes: ReadonlyMap<string, Buffer | undefined>

  constructor(nodes: ReadonlyMap<string, Buffer | undefined>) {
    this.nodes = nodes
  }

  /** The same image without some files. */
  without(vanishing: (path: string) => boolean): DiskImage {
    return new DiskImage(new Map([...this.nodes].filter(([path]) => !vanishing(path))))
  }

  /** Equal for equal images. */
  get key(): string {
    const parts: Buffer[] = []
    const paths = [...this.nodes.keys()].sort()
    for (const path of paths) {
      const bytes = this.nodes.get(path)
      parts.push(Buffer.from(`${path}\0${bytes?.length ?? 'directory'}\0`))
      if (bytes !== undefined) parts.push(bytes)
    }
    return hash('sha1', Buffer.concat(parts), 'hex')
  }

  /** A disk that holds this image, all of it durable. Bytes are shared: a disk never changes them in place. */
  toDisk(): Disk {
    const disk = new Disk()
    const inodes = new Map([['', ROOT]])
    for (const [path, bytes] of this.nodes) {
      const slash = path.lastIndexOf('/')
      const parent = inodes.get(slash < 0 ? '' : path.slice(0, slash))
      if (parent === undefined) throw new Error(`no parent of ${path} in the image`)
      inodes.set(path, disk.addDurable(parent, path.slice(slash + 1), bytes))
    }
    return disk
  }

  /** Lays the image down in an empty directory of the real file system. */
  writeTo(directory: string): void {
    for (const [path, bytes] of this.nodes) {
      if (bytes === undefined) mkdirSync(join(directory, path), { mode: 0o700 })
      else writeFileSync(join(directory, path), bytes, { mode: 0o600 })
    }
  }
}
