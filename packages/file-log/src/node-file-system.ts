/**
 * The file-system port over `node:fs`. What waits for the medium (syncs, reads, large writes) goes through the thread
 * pool; what only changes names and descriptors is called synchronously: a hop through the pool costs several times the
 * call itself, and a session takes a dozen of them to come into being (docs/decisions/0007-synchronous-metadata-calls.md).
 */
import fs from 'node:fs'
import { tryLock } from 'fs-native-extensions'
import type { DirectoryEntry, FileKind, FileStat, FileSystem, OpenFile, OpenMode } from './file-system.ts'
import { giveDirectory, openFor, ownerOf } from './made-by-root.ts'

const { constants } = fs

/** Windows lacks these flags; Node leaves the constants undefined there. */
const NOFOLLOW = constants.O_NOFOLLOW ?? 0
const NONBLOCK = constants.O_NONBLOCK ?? 0

/**
 * On Linux a write to an O_DSYNC handle is itself the sync and saves a hop through the thread pool (1.14 against 1.45
 * of a bare write + fdatasync). Elsewhere O_DSYNC does not reach the platter, and `fdatasync` does.
 */
const WRITE_SYNCS = process.platform === 'linux' && constants.O_DSYNC !== undefined

const FLAGS: { readonly [how in OpenMode]: number } = {
  read: constants.O_RDONLY | NOFOLLOW | NONBLOCK,
  append: constants.O_WRONLY | constants.O_APPEND | NOFOLLOW | NONBLOCK,
  'append-durable':
    constants.O_WRONLY | constants.O_APPEND | NOFOLLOW | NONBLOCK | (WRITE_SYNCS ? constants.O_DSYNC : 0),
  patch: constants.O_RDWR | NOFOLLOW | NONBLOCK,
  new: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | NOFOLLOW,
  lock: constants.O_RDWR | constants.O_CREAT | NOFOLLOW | NONBLOCK,
}

/** A write to the page cache of up to this many bytes takes less time than a hop through the pool. */
const SYNCHRONOUS_WRITE_BYTES = 16 * 1024

/** The same for reads. What is asked for in so few bytes is looked for (a header, an end, a probe), not read through. */
const SYNCHRONOUS_READ_BYTES = 64 * 1024
/** Milliseconds. What took longer came from the medium, and what comes next from that file may, too. */
const CACHED_READ_MS = 0.5

/** Windows locks are mandatory: a byte far behind the content keeps the owner's name readable. */
const WINDOWS_LOCK_OFFSET = 0x4000_0000

function kindOf(stat: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): FileKind {
  return stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'symlink' : 'other'
}

function toFileStat(stat: fs.BigIntStats): FileStat {
  return {
    kind: kindOf(stat),
    size: Number(stat.size),
    identity: `${stat.dev}:${stat.ino}`,
    mode: Number(stat.mode) & 0o777,
    modifiedNs: stat.mtimeNs,
  }
}

type Callback<T> = (error: NodeJS.ErrnoException | null, value: T) => void

function settled<T>(start: (done: Callback<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => {
      if (error === null) resolve(value)
      else reject(error)
    })
  })
}

function finished(start: (done: (error: NodeJS.ErrnoException | null) => void) => void): Promise<void> {
  return settled<void>((done) => {
    start((error) => {
      done(error, undefined)
    })
  })
}

class NodeFile implements OpenFile {
  readonly #fd: number
  readonly #syncAppends: boolean
  #seemsCached = true

  constructor(fd: number, syncAppends: boolean) {
    this.#fd = fd
    this.#syncAppends = syncAppends
  }

  async stat(): Promise<FileStat> {
    return toFileStat(fs.fstatSync(this.#fd, { bigint: true }))
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    if (into.length > SYNCHRONOUS_READ_BYTES || !this.#seemsCached) {
      return await settled((done) => fs.read(this.#fd, into, 0, into.length, position, done))
    }
    const start = performance.now()
    const count = fs.readSync(this.#fd, into, 0, into.length, position)
    // At most one read of each handle holds the event loop until the medium answers.
    if (performance.now() - start > CACHED_READ_MS) this.#seemsCached = false
    return count
  }

  async write(bytes: Uint8Array, position: number): Promise<number> {
    if (bytes.length <= SYNCHRONOUS_WRITE_BYTES) return fs.writeSync(this.#fd, bytes, 0, bytes.length, position)
    return await settled((done) => fs.write(this.#fd, bytes, 0, bytes.length, position, done))
  }

  append(bytes: Uint8Array): Promise<number> {
    const written = settled<number>((done) => fs.write(this.#fd, bytes, 0, bytes.length, null, done))
    return this.#syncAppends ? written.then((count) => this.sync().then(() => count)) : written
  }

  truncate(length: number): Promise<void> {
    return finished((done) => fs.ftruncate(this.#fd, length, done))
  }

  sync(): Promise<void> {
    return finished((done) => fs.fdatasync(this.#fd, done))
  }

  async chmod(mode: number): Promise<void> {
    fs.fchmodSync(this.#fd, mode)
  }

  tryLock(): boolean {
    return process.platform === 'win32' ? tryLock(this.#fd, WINDOWS_LOCK_OFFSET, 1) : tryLock(this.#fd)
  }

  async close(): Promise<void> {
    fs.closeSync(this.#fd)
  }
}

/** The real file system. */
export const nodeFileSystem: FileSystem = {
  syncMode: WRITE_SYNCS ? 'O_DSYNC' : 'fdatasync',

  async open(path, how, mode = 0o600) {
    const owner = how === 'new' || how === 'lock' ? ownerOf(path) : undefined
    const fd = owner === undefined ? fs.openSync(path, FLAGS[how], mode) : openFor(owner, path, FLAGS[how], mode)
    return new NodeFile(fd, how === 'append-durable' && !WRITE_SYNCS)
  },

  async lstat(path) {
    return toFileStat(fs.lstatSync(path, { bigint: true }))
  },

  realpath(path) {
    return settled((done) => fs.realpath.native(path, done))
  },

  readDirectory(path) {
    return settled<string[]>((done) => fs.readdir(path, done))
  },

  async mkdir(path, mode, inherits = false) {
    const owner = inherits ? ownerOf(path) : undefined
    fs.mkdirSync(path, { mode })
    if (owner !== undefined) giveDirectory(owner, path)
  },

  async chmod(path, mode) {
    fs.chmodSync(path, mode)
  },

  async rename(from, to) {
    fs.renameSync(from, to)
  },

  async unlink(path) {
    fs.unlinkSync(path)
  },

  async rmdir(path) {
    fs.rmdirSync(path)
  },

  async syncDirectory(path) {
    // Windows has no such call: there a rename is ordered by NTFS itself.
    if (process.platform === 'win32') return
    // Opening and closing what is in the cache is quicker than the two hops through the thread pool.
    const fd = fs.openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | NOFOLLOW)
    try {
      await finished((done) => fs.fsync(fd, done))
    } finally {
      fs.closeSync(fd)
    }
  },

  watch(path, onChange) {
    try {
      const watcher = fs.watch(path, { persistent: false }, () => {
        onChange()
      })
      watcher.on('error', () => {
        watcher.close()
      })
      return () => {
        watcher.close()
      }
    } catch {
      // No watcher left (inotify limit), or none on this file system: polling remains.
      return () => {}
    }
  },

  lstatSync(path) {
    return toFileStat(fs.lstatSync(path, { bigint: true }))
  },

  readDirectorySync(path): readonly DirectoryEntry[] {
    return fs.readdirSync(path, { withFileTypes: true }).map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
  },

  openSync(path) {
    return fs.openSync(path, FLAGS.read)
  },

  fstatSync(descriptor) {
    return toFileStat(fs.fstatSync(descriptor, { bigint: true }))
  },

  readSync(descriptor, into, position) {
    return fs.readSync(descriptor, into, 0, into.length, position)
  },

  closeSync(descriptor) {
    fs.closeSync(descriptor)
  },
}
