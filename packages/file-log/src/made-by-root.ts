/**
 * A store belongs to the owner of its directory. Root, who looks after it, must not take parts of it away: a log that was
 * sealed or repaired by `sudo` would be one that its own harness can no longer open.
 */
import fs from 'node:fs'
import { dirname } from 'node:path'

const { O_CREAT, O_EXCL, O_RDONLY } = fs.constants
const O_DIRECTORY = fs.constants.O_DIRECTORY ?? 0
const O_NOFOLLOW = fs.constants.O_NOFOLLOW ?? 0

/** A process may give its privileges up later: that is asked where it matters, since a file's owner costs one call less. */
const UID_AT_START = process.geteuid?.()

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Whose what is made at `path` is to be: undefined where that is this process, or where it may not give files away. */
export function ownerOf(path: string): Owner | undefined {
  if (UID_AT_START === undefined) return undefined
  const { uid, gid } = fs.statSync(dirname(path))
  return uid !== UID_AT_START && process.geteuid?.() === 0 ? { uid, gid } : undefined
}

/**
 * Opens a file that is created where it is missing, or must be with O_EXCL in the flags. Only what this call made changes
 * hands: a link that somebody put there must not give them the file behind it.
 */
export function openFor(owner: Owner, path: string, flags: number, mode: number): number {
  for (;;) {
    try {
      const fd = fs.openSync(path, flags | O_EXCL, mode)
      give(fd, owner)
      return fd
    } catch (error) {
      if ((flags & O_EXCL) !== 0 || codeOf(error) !== 'EEXIST') throw error
    }
    try {
      return fs.openSync(path, flags & ~O_CREAT)
    } catch (error) {
      // Removed in between: made after all.
      if (codeOf(error) !== 'ENOENT') throw error
    }
  }
}

/**
 * Of a directory that was just made. Somebody may have put another in its place: no file and no link changes hands, and
 * of directories only one that nobody put anything in.
 */
export function giveDirectory(owner: Owner, path: string): void {
  const fd = fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    if (isSame(fd, path) && fs.readdirSync(path).length === 0 && isSame(fd, path)) give(fd, owner)
  } finally {
    fs.closeSync(fd)
  }
}

function isSame(fd: number, path: string): boolean {
  const [opened, named] = [fs.fstatSync(fd), fs.lstatSync(path, { throwIfNoEntry: false })]
  return named !== undefined && opened.ino === named.ino && opened.dev === named.dev
}

function give(fd: number, { uid, gid }: Owner): void {
  try {
    fs.fchownSync(fd, uid, gid)
  } catch (error) {
    // Root of a container or a network share may not give away everything. It keeps what it made, as before.
    const code = codeOf(error)
    if (code !== 'EPERM' && code !== 'EINVAL') throw error
  }
}

function codeOf(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code
}
