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
import { SteadyNames } from './steady-names.ts'

const FILE_MODE = 0o600

/** What SQLite keeps beside a database. */
const COMPANIONS = ['-wal', '-shm', '-journal'] as const

/** What this package keeps beside a database: companions, locks, temporary files, kept originals. */
const OWN_SUFFIX = /^(?:-wal|-shm|-journal|\.locks|\.v\d+|\.tmp-[0-9a-f]+(?:-wal|-shm|-journal)?|\.probe-[0-9a-f]+)$/

/** File systems without the shared memory that a write-ahead log needs between machines, by the number of statfs(2). */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
])

/** What stands for the identity of a file that is not there. */
const MISSING = ''

export interface FileIdentities {
  /** Empty when nothing is there. */
  readonly database: string
  /** Undefined where it is not asked for, empty when nothing is there. */
  readonly log: string | undefined
}

export interface FileNames {
  identity(): FileIdentities
}

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

  /** Device and inode, undefined when nothing is there. PERMISSION_DENIED for anything but a plain file of one name. */
  identity(): string | undefined {
    const { path } = this
    return path === undefined ? undefined : plainFile(path, temporaryNames)
  }

  /** PERMISSION_DENIED when something else stands where SQLite keeps its log or journal: a planted link, say. */
  requirePlainCompanions(): void {
    for (const companion of COMPANIONS) plainFile(`${this.path ?? this.given}${companion}`)
  }

  /** Device and inode of the write-ahead log; as `identity` otherwise. */
  logIdentity(): string | undefined {
    return plainFile(`${this.path ?? this.given}-wal`)
  }

  /**
   * Which file the database is, and with `log` its write-ahead log: to be asked for before every commit. Of the two a
   * commit writes one in place, which is dear to look at each time (steady-names): the log, or without one the database.
   */
  names(log: boolean): FileNames {
    const directory = dirname(this.path ?? this.given)
    const database = (): string => this.identity() ?? MISSING
    if (!log) {
      const steady = new SteadyNames(directory, database)
      return { identity: () => ({ database: steady.identity(), log: undefined }) }
    }
    const steady = new SteadyNames(directory, () => this.logIdentity() ?? MISSING)
    return { identity: () => ({ database: database(), log: steady.identity() }) }
  }

  hasEmptyLog(): boolean {
    const stat = lstatSync(`${this.path ?? this.given}-wal`, { throwIfNoEntry: false })
    return stat?.isFile() === true && stat.size === 0
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
   * Makes the database: `build` fills an empty file under another name, which then appears whole under this one. False
   * when somebody else's database was there first; CONFLICT when a log or journal of an earlier one is still beside it.
   */
  create(build: (path: string) => void): boolean {
    const path = this.path
    if (path === undefined) {
      throw new SessionError('IO', `there is no such directory: ${this.directory}`, { path: this.given })
    }
    if (this.identity() !== undefined) return false
    this.#requireNoCompanions(path)
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

  /** SQLite would take them for those of the new database, and write what they hold into it. */
  #requireNoCompanions(path: string): void {
    for (const companion of COMPANIONS) {
      const found = `${path}${companion}`
      const stat = lstatSync(found, { throwIfNoEntry: false })
      if (stat === undefined || (stat.isFile() && stat.size === 0)) continue
      throw new SessionError(
        'CONFLICT',
        `${found} belongs to an earlier database of this name and may hold its newest events: put it back beside that database, or move it away`,
        { path: found },
      )
    }
  }

  /** Why no other database may have the path of `other`: this one would use, or remove, what is there. */
  claims(other: DatabaseFile): string | undefined {
    const [own, theirs] = [this.path ?? this.given, other.path ?? other.given]
    if (!theirs.startsWith(own)) return undefined
    const suffix = theirs.slice(own.length)
    return OWN_SUFFIX.test(suffix) ? suffix : undefined
  }

  /** Removes what creations left that were killed. Call it under the creation lock, or once the database is there. */
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

/** `namesOf` counts the names beside `path` that the file may have besides it. */
function plainFile(path: string, namesOf: (path: string, inode: number) => number = () => 0): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  if (stat.isFile()) {
    // Each name would have a log, a journal and locks of its own.
    if (stat.nlink > 1 && isLinked(path, namesOf)) {
      throw new SessionError(
        'PERMISSION_DENIED',
        `refused a file with several names (hard links) where a plain file belongs: ${path}`,
        { path, expected: 1, found: stat.nlink },
      )
    }
    return `${stat.dev}:${stat.ino}`
  }
  const found = stat.isSymbolicLink() ? 'symlink' : stat.isDirectory() ? 'directory' : 'special file'
  throw new SessionError('PERMISSION_DENIED', `refused a ${found} where a plain file belongs`, {
    path,
    expected: 'file',
    found,
  })
}

function isLinked(path: string, namesOf: (path: string, inode: number) => number): boolean {
  for (;;) {
    const before = lstatSync(path, { throwIfNoEntry: false })
    if (before === undefined) return false
    const known = namesOf(path, before.ino)
    const after = lstatSync(path, { throwIfNoEntry: false })
    // A creation ends by removing its temporary name: that may happen at any moment.
    if (after?.nlink === before.nlink && after.ino === before.ino) return after.nlink > 1 + known
  }
}

function temporaryNames(path: string, inode: number): number {
  const prefix = `${basename(path)}.tmp-`
  const names = readdirSync(dirname(path)).filter((name) => name.startsWith(prefix))
  return names.filter((name) => lstatSync(join(dirname(path), name), { throwIfNoEntry: false })?.ino === inode).length
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
