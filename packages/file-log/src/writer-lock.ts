/**
 * One writer a session, across handles and processes: an operating-system lock on `.locks/<name>`, which dies with its
 * holder. The content of the file names the owner, for people only (docs/formats/files.md, Lock).
 */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { SessionError } from '@session-persistence/core'
import type { FileStat, FileSystem, OpenFile } from './file-system.ts'
import { attempt, ioError, isMissing } from './io-error.ts'
import { notPlain } from './layout.ts'
import { type OpenedFile, openPrivateFile } from './private-path.ts'
import { writeFully } from './write-bytes.ts'

export interface LockOwner {
  readonly pid: number
  readonly host: string
  /** Unix milliseconds. */
  readonly since: number
}

/** What an owner's line takes; more is not ours and is not read. */
const OWNER_BYTES_MAX = 512
/** Each retry means that somebody released in just that moment. */
const ATTEMPTS_MAX = 1000

/** Held in this process, by path: a second handle is refused without asking the system. */
const held = new Map<string, LockOwner>()

export class WriterLock {
  /** True when the lock file was there already: its holder died without releasing it. */
  readonly abandoned: boolean
  readonly #fs: FileSystem
  readonly #path: string
  readonly #file: OpenFile
  readonly #identity: string
  #released = false

  private constructor(fs: FileSystem, path: string, { file, stat }: OpenedFile, abandoned: boolean) {
    this.#fs = fs
    this.#path = path
    this.#file = file
    this.#identity = stat.identity
    this.abandoned = abandoned
  }

  /** The lock of `name` in the directory `locks`, which must exist. LOCKED, naming the owner, when it is held. */
  static async acquire(fs: FileSystem, locks: string, name: string, sessionId: string): Promise<WriterLock> {
    const path = join(locks, name)
    const here = held.get(path)
    if (here !== undefined) throw lockedError(sessionId, path, here)
    const owner: LockOwner = { pid: process.pid, host: hostname(), since: Date.now() }
    held.set(path, owner)
    try {
      for (let tries = 0; tries < ATTEMPTS_MAX; tries++) {
        const lock = await WriterLock.#try(fs, path, owner, sessionId)
        if (lock !== undefined) return lock
      }
      throw new SessionError('BUSY', 'the lock file kept changing', { path, sessionId })
    } catch (error) {
      held.delete(path)
      throw ioError(error, 'take the writer lock', path, { sessionId })
    }
  }

  /** Undefined when the file was unlinked between opening and locking. */
  static async #try(
    fs: FileSystem,
    path: string,
    owner: LockOwner,
    sessionId: string,
  ): Promise<WriterLock | undefined> {
    const { file, stat } = await openPrivateFile(fs, path)
    try {
      if (!file.tryLock()) throw lockedError(sessionId, path, parseOwner(await readOwnerText(file)))
      const there = look(fs, path)
      if (there?.identity !== stat.identity) {
        await file.close()
        return undefined
      }
      if (there.size > 0) await file.truncate(0)
      await writeOwner(file, path, owner)
      return new WriterLock(fs, path, { file, stat }, there.size > 0)
    } catch (error) {
      await file.close().catch(() => {})
      throw error
    }
  }

  /**
   * Unlinks while the lock is held, so that no two processes can hold locks on two files of this name; only its own file,
   * since somebody may have removed that, and another writer taken a new one. Twice is fine.
   */
  async release(): Promise<void> {
    if (this.#released) return
    this.#released = true
    try {
      if (look(this.#fs, this.#path)?.identity === this.#identity) await this.#fs.unlink(this.#path)
    } catch {
      // A file that stays behind is a stale hint for people; the lock itself goes with the handle.
    }
    try {
      await attempt('release the writer lock', this.#path, () => this.#file.close())
    } finally {
      held.delete(this.#path)
    }
  }
}

function look(fs: FileSystem, path: string): FileStat | undefined {
  try {
    return fs.lstatSync(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** On a full disk the lock is held without it: deleting a session takes the lock too, and is what makes room. */
async function writeOwner(file: OpenFile, path: string, owner: LockOwner): Promise<void> {
  try {
    await writeFully(file, Buffer.from(`${JSON.stringify(owner)}\n`), 0)
  } catch (error) {
    const failed = ioError(error, 'name the holder of the lock', path)
    if (failed.code !== 'NO_SPACE') throw failed
  }
}

async function readOwnerText(file: OpenFile): Promise<string> {
  const into = Buffer.alloc(OWNER_BYTES_MAX)
  try {
    return into.toString('utf8', 0, await file.read(into, 0))
  } catch {
    return ''
  }
}

/** The owner that the text of a lock file names; undefined for anything else. */
function parseOwner(text: string): LockOwner | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return undefined
    const { pid, host, since } = value as Record<string, unknown>
    if (!Number.isSafeInteger(pid) || typeof host !== 'string' || !Number.isSafeInteger(since)) return undefined
    return { pid: pid as number, host: host.replace(/[^\x20-\x7e]/g, '?'), since: since as number }
  } catch {
    return undefined
  }
}

/** Who the lock file says holds it. Only a hint: the file may be left over, and is never probed by locking. */
export function readLockOwner(fs: FileSystem, locks: string, name: string): LockOwner | undefined {
  const here = held.get(join(locks, name))
  if (here !== undefined) return here
  let descriptor: number
  try {
    descriptor = fs.openSync(join(locks, name))
  } catch {
    return undefined
  }
  try {
    if (fs.fstatSync(descriptor).kind !== 'file') throw notPlain(join(locks, name), 'file', 'other')
    const into = Buffer.alloc(OWNER_BYTES_MAX)
    return parseOwner(into.toString('utf8', 0, fs.readSync(descriptor, into, 0)))
  } catch {
    return undefined
  } finally {
    fs.closeSync(descriptor)
  }
}

/** False when the owner is known to be dead: a process of this host that no longer runs. */
export function mayBeAlive(owner: LockOwner): boolean {
  if (owner.host !== hostname()) return true
  try {
    process.kill(owner.pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

export function describeOwner(owner: LockOwner): string {
  const where = owner.pid === process.pid && owner.host === hostname() ? 'this process, ' : ''
  return `${where}pid ${owner.pid} on ${owner.host} since ${new Date(clampTime(owner.since)).toISOString()}`
}

/** Dates end at 8.64e15 ms; a lock file may say anything. */
function clampTime(time: number): number {
  return Math.max(-8.64e15, Math.min(8.64e15, time))
}

function lockedError(sessionId: string, path: string, owner: LockOwner | undefined): SessionError {
  const who = owner === undefined ? 'by another process' : `by ${describeOwner(owner)}`
  return new SessionError('LOCKED', `the session is open for writing ${who}`, { sessionId, path })
}
