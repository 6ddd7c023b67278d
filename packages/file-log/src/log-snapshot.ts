/** One stored log as it stands at this moment: its open file, its header and its end. */
import { isSessionError, SessionError } from '@session-persistence/core'
import type { FileStat, FileSystem, OpenFile } from './file-system.ts'
import { attempt, ioError, isMissing } from './io-error.ts'
import { type Layout, notPlain, statDirectory, statFile } from './layout.ts'
import type { Damage, LogCodec, LogDialect, LogTail } from './log-codec.ts'
import { readBytes } from './read-bytes.ts'
import { type Look, lookAtStillLog } from './still-log.ts'
import { findTail } from './tail.ts'

/** Holds most headers. */
const HEADER_BYTES = 4096

export interface LogSnapshot {
  readonly path: string
  readonly file: OpenFile
  readonly stat: FileStat
  readonly dialect: LogDialect
  readonly tail: LogTail
}

export interface OpenedLog {
  readonly path: string
  readonly file: OpenFile
  readonly stat: FileStat
}

/** Opens the log in `directory` for reading. NOT_FOUND; PERMISSION_DENIED for anything but a plain file in a plain directory. */
export async function openLog(fs: FileSystem, layout: Layout, directory: string, id: string): Promise<OpenedLog> {
  const path = layout.log(directory)
  if (statDirectory(fs, directory) === undefined) throw notFound(id, path)
  // Opening a device can do things: look first. What replaces the file in between meets O_NOFOLLOW and O_NONBLOCK.
  if (statFile(fs, path) === undefined) throw notFound(id, path)
  let file: OpenFile
  try {
    file = await fs.open(path, 'read')
  } catch (error) {
    throw isMissing(error) ? notFound(id, path) : ioError(error, 'open the log', path, { sessionId: id })
  }
  try {
    const stat = await attempt('look at the log', path, () => file.stat())
    if (stat.kind !== 'file') throw notPlain(path, 'file', stat.kind)
    return { path, file, stat }
  } catch (error) {
    await file.close().catch(() => {})
    throw error
  }
}

/** The header of an open log; CORRUPT when it is another session's, UNSUPPORTED_VERSION when it is newer. */
export async function readHeader({ path, file, stat }: OpenedLog, codec: LogCodec, id: string): Promise<LogDialect> {
  const most = Math.min(stat.size, codec.headerBytesMax)
  let prefix = await readBytes(file, path, 0, Math.min(most, HEADER_BYTES))
  if (prefix.length < most && !codec.holdsHeader(prefix)) prefix = await readBytes(file, path, 0, most)
  const dialect = located(path, id, () => codec.open(prefix))
  if (dialect.header.id !== id) throw otherId(path, id)
  return dialect
}

export function otherId(path: string, id: string): SessionError {
  return new SessionError('CORRUPT', 'the header names another session than the directory', {
    path,
    sessionId: id,
    offset: 0,
  })
}

/** Adds path and session to what a codec throws. */
export function located<T>(path: string, id: string, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (!isSessionError(error)) throw error
    throw new SessionError(error.code, error.message, { ...error, path, sessionId: id, cause: error.cause })
  }
}

/** Opens the log and finds its end. The caller closes `file`. */
export async function takeSnapshot(
  fs: FileSystem,
  layout: Layout,
  directory: string,
  codec: LogCodec,
  id: string,
): Promise<LogSnapshot> {
  const { outcome, file } = await lookAtStillLog(async (): Promise<Look<LogSnapshot>> => {
    const opened = await openLog(fs, layout, directory, id)
    try {
      const dialect = await readHeader(opened, codec, id)
      const tail = await findTail(opened.file, opened.path, opened.stat.size, codec, dialect)
      return { ...opened, outcome: { value: { ...opened, dialect, tail } }, isDamage: tail.verdict.kind === 'corrupt' }
    } catch (error) {
      return { ...opened, outcome: { error }, isDamage: isSessionError(error, 'CORRUPT') }
    }
  })
  if ('value' in outcome) return outcome.value
  await file.close().catch(() => {})
  throw outcome.error
}

export function corruptError(path: string, id: string, damage: Damage): SessionError {
  return new SessionError('CORRUPT', damage.message, {
    path,
    sessionId: id,
    offset: damage.offset,
    ...(damage.seq === undefined ? {} : { seq: damage.seq, expected: damage.seq }),
    ...(damage.found === undefined ? {} : { found: damage.found }),
  })
}

export function notFound(id: string, path: string): SessionError {
  return new SessionError('NOT_FOUND', 'no session with this id is stored here', { sessionId: id, path })
}
