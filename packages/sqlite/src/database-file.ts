/**
 * The database as a file. While SQLite has it open, it and its companions are looked at by path only: closing any
 * descriptor of one drops the locks that SQLite holds on it (reliability.md, fact 11).
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statfsSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { SessionError } from '@session-persistence/core'
import { ioError, isMissing } from '@session-persistence/file-log'

const FILE_MODE = 0o600

/** What SQLite keeps beside a database. */
const COMPANIONS = ['-wal', '-shm', '-journal'] as const

/** File systems without the shared memory that a write-ahead log needs between machines, by the number of statfs(2). */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
])

export class DatabaseFile {
  /** As given, made absolute. */
  readonly given: string
  #real: string | undefined

  /** INVALID_ARGUMENT for what cannot be a path. */
  constructor(file: string) {
    if (typeof file !== 'string' || file === '' || file.includes('\0') || file.startsWith(':')) {
      throw new SessionError('INVALID_ARGUMENT', '`file` must be the path of a database')
    }
    this.given = resolve(file)
  }

  get directory(): string {
    return dirname(this.given)
  }

  /** The path with its directory resolved; undefined while there is no such directory. */
  get path(): string | undefined {
    if (this.#real !== undefined) return this.#real
    try {
      this.#real = join(realpathSync(this.directory), basename(this.given))
    } catch (error) {
      if (!isMissing(error)) throw ioError(error, 'resolve the directory of the database', this.directory)
    }
    return this.#real
  }

  /** Where the writer locks of its sessions are. */
  get locks(): string {
    return `${this.path ?? this.given}.locks`
  }

  /** Device and inode, undefined when nothing is there. PERMISSION_DENIED for anything but a plain file. */
  identity(): string | undefined {
    const { path } = this
    return path === undefined ? undefined : plainFile(path)
  }

  /** PERMISSION_DENIED when something else stands where SQLite keeps its log or journal: a planted link, say. */
  requirePlainCompanions(): void {
    for (const companion of COMPANIONS) plainFile(`${this.path ?? this.given}${companion}`)
  }

  /** Device and inode of the write-ahead log. */
  walIdentity(): string | undefined {
    return plainFile(`${this.path ?? this.given}-wal`)
  }

  hasEmptyLog(): boolean {
    return lstatSync(`${this.path ?? this.given}-wal`, { throwIfNoEntry: false })?.size === 0
  }

  /** NOT_SUPPORTED on a network file system, as far as that can be told. */
  requireSharedMemory(): void {
    let type: number
    try {
      ;({ type } = statfsSync(this.directory))
    } catch {
      return
    }
    const name = NETWORK_FILE_SYSTEMS.get(type >>> 0)
    if (name === undefined) return
    throw new SessionError(
      'NOT_SUPPORTED',
      `a write-ahead log does not work on ${name}: open the database with journal: 'delete'`,
      { path: this.given, found: name },
    )
  }

  /**
   * Makes the database: `build` fills an empty file under another name, which then appears whole under this one. Call
   * it under the creation lock. False when somebody else's database was there first.
   */
  create(build: (path: string) => void): boolean {
    const path = this.path
    if (path === undefined) throw new SessionError('IO', 'the directory of the database vanished', { path: this.given })
    this.sweep()
    const building = `${path}.tmp-${randomBytes(8).toString('hex')}`
    try {
      createPrivateFile(building)
      build(building)
      syncPath(building)
      linkSync(building, path)
      removeDatabase(building)
      syncPath(dirname(path))
      return true
    } catch (error) {
      removeDatabase(building)
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
      throw error
    }
  }

  /** Removes what creations left that were killed. Nobody is creating once the database is there. */
  sweep(): void {
    const path = this.path
    if (path === undefined) return
    const prefix = `${basename(path)}.tmp-`
    for (const name of readdirSync(dirname(path))) {
      if (name.startsWith(prefix) && /^[0-9a-f]{16}(?:-wal|-shm|-journal)?$/.test(name.slice(prefix.length))) {
        rmSync(join(dirname(path), name), { force: true })
      }
    }
  }
}

function plainFile(path: string): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  if (stat.isFile()) return `${stat.dev}:${stat.ino}`
  const found = stat.isSymbolicLink() ? 'symlink' : stat.isDirectory() ? 'directory' : 'special file'
  throw new SessionError('PERMISSION_DENIED', `refused a ${found} where a plain file belongs`, {
    path,
    expected: 'file',
    found,
  })
}

/**
 * An empty file, 0600 whatever the umask; SQLite gives its companions the same permissions. In one synchronous step, so
 * that no connection of this process can have it open when the descriptor is closed.
 */
export function createPrivateFile(path: string): void {
  const descriptor = openSync(path, 'wx', FILE_MODE)
  try {
    fchmodSync(descriptor, FILE_MODE)
  } finally {
    closeSync(descriptor)
  }
}

/** Of a directory, or of a file that no connection has open. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

export function removeDatabase(path: string): void {
  for (const suffix of ['', ...COMPANIONS]) rmSync(`${path}${suffix}`, { force: true })
}
