/** Replaces a stored log by another in one step: a new file beside it, synced, renamed over it (formats.md, versioning). */
import {
  type AnySessionEvent,
  SessionError,
  type SessionHeader,
  type StorageTail,
  summaryHead,
} from '@session-persistence/core'
import { readDerived, removeDerived } from './derived-document.ts'
import type { FileSystem, OpenFile } from './file-system.ts'
import { attempt, ioError, systemErrorName } from './io-error.ts'
import type { Layout } from './layout.ts'
import type { WriterPlace } from './log-writer.ts'
import { createPrivateFile } from './private-path.ts'
import { readInto } from './read-bytes.ts'
import { StoredLog } from './stored-log.ts'
import { writeFully } from './write-bytes.ts'

const STEP_BYTES = 1024 * 1024
const SUFFIX = /^[a-z0-9][a-z0-9-]*$/

export interface RewrittenLog {
  readonly log: StoredLog
  readonly tail: StorageTail
  /** Where the old bytes are kept, if they are. */
  readonly originalAt: string | undefined
  /** The rename happened, but may not be durable. */
  readonly unsynced: unknown
}

/** A batch for each page of `events`, which must be within `LIMITS.batchBytes`. The caller holds the lock and has settled the old log. */
export async function rewriteLog(
  place: WriterPlace,
  header: SessionHeader,
  events: AsyncIterable<readonly AnySessionEvent[]>,
  keepOriginal: string | undefined,
): Promise<RewrittenLog> {
  const { fs, layout, codec, durable } = place
  const directory = layout.directory(place.name)
  const path = layout.log(directory)
  const temporary = layout.temporaryFile(directory)
  const { bytes, dialect } = await codec.create(header)
  const { file, stat } = await attempt('rewrite the log', temporary, () => createPrivateFile(fs, temporary))
  let length = 0
  let tail: StorageTail = { nextSeq: 0, lastTime: undefined }
  let originalAt: string | undefined
  try {
    const write = async (part: Buffer): Promise<void> => {
      await attempt('rewrite the log', temporary, () => writeFully(file, part, length))
      length += part.length
    }
    await write(bytes)
    for await (const page of events) {
      const last = page.at(-1)
      if (last === undefined) continue
      await write(await dialect.encodeBatch(page, length))
      tail = { nextSeq: last.seq + 1, lastTime: last.time }
    }
    if (durable) await attempt('sync the rewritten log', temporary, () => file.sync())
    if (keepOriginal !== undefined) originalAt = await copyAside(fs, path, keepOriginal, durable)
    const isRemoved = await removeOutdated(fs, layout, directory, tail.nextSeq)
    // Neither the copy's entry nor the removals may be lost while the rename is kept.
    if (durable && (isRemoved || originalAt !== undefined)) await fs.syncDirectory(directory)
    await fs.rename(temporary, path)
  } catch (error) {
    await fs.unlink(temporary).catch(() => {})
    throw ioError(error, 'rewrite the log', path)
  } finally {
    await file.close().catch(() => {})
  }
  let unsynced: unknown
  try {
    if (durable) await fs.syncDirectory(directory)
  } catch (error) {
    unsynced = ioError(error, 'sync the session directory', directory)
  }
  const log = StoredLog.published(place, dialect, { identity: stat.identity, length }, tail)
  return { log, tail, originalAt, unsynced }
}

/**
 * Removes what was derived from the old log, before a new one is there: its newest event may well stay, and then documents
 * that hold what was given up before it would still fit. A summary that was made for an event behind the new end says how far the log
 * once went. True when something was removed.
 */
async function removeOutdated(fs: FileSystem, layout: Layout, directory: string, end: number): Promise<boolean> {
  const snapshots = await removeDerived(fs, layout.derived(directory, 'snapshots'))
  const summary = layout.derived(directory, 'summary')
  const seq = summaryHead((await readDerived(fs, summary)) ?? '')?.seq ?? -1
  return seq < end && (await removeDerived(fs, summary)) ? true : snapshots
}

/** Copies the file beside itself under a suffix, with a count when that name is taken; resolves with its path. */
export async function copyAside(fs: FileSystem, path: string, suffix: string, durable: boolean): Promise<string> {
  if (!SUFFIX.test(suffix)) throw new SessionError('INVALID_ARGUMENT', 'a suffix holds a-z, 0-9 and - only')
  const source = await attempt('read the original', path, () => fs.open(path, 'read'))
  try {
    const side = await createAside(fs, `${path}.${suffix}`)
    try {
      await copyAll(source, path, side.file)
      if (durable) await side.file.sync()
    } catch (error) {
      await side.file.close().catch(() => {})
      await fs.unlink(side.path).catch(() => {})
      throw ioError(error, 'keep the original', side.path)
    }
    await attempt('keep the original', side.path, () => side.file.close())
    return side.path
  } finally {
    await source.close().catch(() => {})
  }
}

async function createAside(fs: FileSystem, base: string): Promise<{ readonly path: string; readonly file: OpenFile }> {
  for (let count = 1; ; count++) {
    const path = count === 1 ? base : `${base}-${count}`
    try {
      return { path, file: (await createPrivateFile(fs, path)).file }
    } catch (error) {
      if (systemErrorName(error) !== 'EEXIST') throw ioError(error, 'keep the original', path)
    }
  }
}

async function copyAll(source: OpenFile, path: string, target: OpenFile): Promise<void> {
  const step = Buffer.allocUnsafe(STEP_BYTES)
  for (let at = 0; ; ) {
    const count = await readInto(source, path, step, at)
    if (count === 0) return
    await writeFully(target, step.subarray(0, count), at)
    at += count
  }
}
