// Names and private files. What the operating system refuses becomes a SessionError here and nowhere else.
import { createHash, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isSessionError, SessionError } from '@session-persistence/core'

export const EXTENSION = '.session'

/** Hex has no case, no dots, no slashes and no Unicode forms. Longer names than this are too long for some media. */
const ID_BYTES_MAX = 100

/** @param {string} id */
export function fileNameOf(id) {
  const bytes = Buffer.from(id, 'utf8')
  if (bytes.length <= ID_BYTES_MAX) return `${bytes.toString('hex')}${EXTENSION}`
  return `long-${createHash('sha256').update(bytes).digest('hex')}${EXTENSION}`
}

/**
 * The id that a file name stands for; undefined for names that are no session of this store, and `long` where only the
 * header tells the id.
 *
 * @param {string} name
 */
export function idOfFileName(name) {
  const stem = name.endsWith(EXTENSION) ? name.slice(0, -EXTENSION.length) : ''
  if (/^long-[0-9a-f]{64}$/.test(stem)) return { long: true, id: stem }
  if (!/^(?:[0-9a-f]{2})+$/.test(stem)) return undefined
  const id = Buffer.from(stem, 'hex').toString('utf8')
  return fileNameOf(id) === name ? { long: false, id } : undefined
}

/** A name in the same directory that nobody else uses and that is no session. @param {string} root */
export function newName(root) {
  return join(root, `.new-${randomUUID()}`)
}

/** Nothing is followed through a link, and everything is for its owner only. */
export const FLAGS = {
  read: constants.O_RDONLY | constants.O_NOFOLLOW,
  append: constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW,
  create: constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
}

/**
 * Creates a file with these bytes and syncs it, not yet the directory that it is in.
 *
 * @param {string} path
 * @param {Uint8Array} bytes
 */
export async function createFile(path, bytes) {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await open(path, FLAGS.create, 0o600)
  try {
    await file.writeFile(bytes)
    await file.datasync()
  } finally {
    await file.close()
  }
}

/** The entry of a new, renamed or removed file is durable only after this. @param {string} directory */
export async function syncDirectory(directory) {
  const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The names of a file, of its directory, and of the one above, which may be as new. @param {string} path */
export async function syncNames(path) {
  await syncDirectory(dirname(path))
  await syncDirectory(dirname(dirname(path)))
}

/** Everything in the file; undefined where there is none. @param {string} path */
export async function readBytes(path) {
  const file = await open(path, FLAGS.read).catch((/** @type {unknown} */ error) => {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  })
  try {
    return await file?.readFile()
  } finally {
    await file?.close()
  }
}

/** Whether anything has this name, a link included. @param {string} path */
export async function isThere(path) {
  return await lstat(path).then(
    () => true,
    (/** @type {unknown} */ error) => (systemCode(error) === 'ENOENT' ? false : Promise.reject(error)),
  )
}

/** @type {Readonly<Record<string, import('@session-persistence/core').SessionErrorCode>>} */
const CODES = {
  ENOSPC: 'NO_SPACE',
  EDQUOT: 'NO_SPACE',
  EROFS: 'READ_ONLY',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  ELOOP: 'PERMISSION_DENIED',
}

/** @param {unknown} error */
export function systemCode(error) {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/**
 * Runs a call; what the operating system refuses is rejected as a SessionError, never as NOT_FOUND or CORRUPT.
 *
 * @template T
 * @param {string} sessionId
 * @param {() => Promise<T>} call
 * @returns {Promise<T>}
 */
export async function typed(sessionId, call) {
  try {
    return await call()
  } catch (error) {
    if (isSessionError(error)) throw error
    const name = systemCode(error) ?? 'unknown'
    throw new SessionError(CODES[name] ?? 'IO', `the file of the session: ${name}`, { sessionId, cause: error })
  }
}
