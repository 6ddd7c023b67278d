/**
 * Where things are (docs/formats/files.md):
 *
 * ```
 * <root>/
 *   .locks/<name>            writer locks
 *   .tmp-<name>-<random>/    a session directory being built or removed; swept by the holder of the lock of <name>
 *   <name>/                  one session
 *     session.jsonl          the log, named by its codec
 *     torn-<offset>-<n>      what recovery cut
 *     snapshots.json  summary.json   disposable
 *     id                     only where <name> is too short to spell the id out
 *     .tmp-<random>          a file being built; swept by the holder of the lock
 * ```
 */
import { randomBytes } from 'node:crypto'
import { join, sep } from 'node:path'
import { type DerivedDocument, SessionError } from '@session-persistence/core'
import type { FileStat, FileSystem } from './file-system.ts'
import { ioError, isMissing } from './io-error.ts'

export const DIRECTORY_MODE = 0o700
export const FILE_MODE = 0o600
const TEMPORARY = '.tmp-'
/** Unguessable, so that nobody can plant a link at the next temporary name. */
const RANDOM_BYTES = 8
const LONG_ID_FILE = 'id'

export class Layout {
  readonly root: string
  readonly logName: string

  /** `root` must be free of symbolic links (see `root-directory`). */
  constructor(root: string, logName: string) {
    this.root = root
    this.logName = logName
  }

  get locks(): string {
    return join(this.root, '.locks')
  }

  // Names hold nothing to normalise, and a listing asks for ten thousand of these.
  directory(name: string): string {
    return `${this.root}${sep}${name}`
  }

  log(directory: string): string {
    return `${directory}${sep}${this.logName}`
  }

  longId(directory: string): string {
    return join(directory, LONG_ID_FILE)
  }

  derived(directory: string, document: DerivedDocument): string {
    return join(directory, `${document}.json`)
  }

  torn(directory: string, offset: number, count: number): string {
    return join(directory, `torn-${offset}-${count}`)
  }

  /** A new name beside the session directories. */
  temporaryDirectory(name: string): string {
    return join(this.root, `${TEMPORARY}${name}-${random()}`)
  }

  temporaryFile(directory: string): string {
    return join(directory, `${TEMPORARY}${random()}`)
  }
}

function random(): string {
  return randomBytes(RANDOM_BYTES).toString('hex')
}

/** The session name inside the name of a temporary directory; undefined for any other name. */
export function temporaryOwner(entry: string): string | undefined {
  const suffix = 1 + 2 * RANDOM_BYTES
  if (!entry.startsWith(TEMPORARY) || !/-[0-9a-f]{16}$/.test(entry)) return undefined
  const name = entry.slice(TEMPORARY.length, -suffix)
  return name === '' ? undefined : name
}

export function isTemporaryFile(entry: string): boolean {
  return entry.startsWith(TEMPORARY)
}

/** Refuses anything but a plain directory at `path`; undefined when nothing is there. */
export function statDirectory(fs: FileSystem, path: string): FileStat | undefined {
  return statKind(fs, path, 'directory')
}

/** Refuses anything but a plain file at `path`; undefined when nothing is there. */
export function statFile(fs: FileSystem, path: string): FileStat | undefined {
  return statKind(fs, path, 'file')
}

function statKind(fs: FileSystem, path: string, kind: 'file' | 'directory'): FileStat | undefined {
  let stat: FileStat
  try {
    stat = fs.lstatSync(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw ioError(error, `look at a ${kind}`, path)
  }
  if (stat.kind !== kind) throw notPlain(path, kind, stat.kind)
  return stat
}

export function notPlain(path: string, expected: string, found: string): SessionError {
  const what = found === 'other' ? 'special file' : found
  return new SessionError('PERMISSION_DENIED', `refused a ${what} where a plain ${expected} belongs`, {
    path,
    expected,
    found,
  })
}
