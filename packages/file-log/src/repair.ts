/**
 * Explicit salvage of a corrupt log, or of one whose events cannot follow each other (events-and-recovery.md, what a crash
 * leaves). Every record that can be proven is kept in order of seq, however its line was moved, repeated or glued to
 * another; core makes a legal log of them (`SalvagedLog`). The original stays beside it.
 */
import {
  isLegalLog,
  isSessionError,
  type SessionHeader,
  type StorageRepair,
  type StorageRepairOptions,
} from '@session-persistence/core'
import { checkLog } from './check.ts'
import { attempt } from './io-error.ts'
import type { SalvagedHeader } from './log-codec.ts'
import { openLogReader } from './log-reader.ts'
import { corruptError, type OpenedLog, openLog, readHeader } from './log-snapshot.ts'
import type { WriterPlace } from './log-writer.ts'
import { readBytes } from './read-bytes.ts'
import { RepairPlan } from './repair-plan.ts'
import { rewriteLog } from './rewrite.ts'
import type { ScanSource } from './scan-pages.ts'

/** Suffix of the kept original. */
const ORIGINAL = 'damaged'

type Lost = StorageRepair['lost'][number]

/** `dryRun` reads without a lock; otherwise the caller holds it. A log that is whole and legal is left as it is. */
export async function repairLog(place: WriterPlace, options: StorageRepairOptions): Promise<StorageRepair> {
  const { dryRun, signal, messageFormats } = options
  const { fs, layout, codec, name, id, durable } = place
  const directory = layout.directory(name)
  const check = await checkLog({ fs, layout, codec }, directory, id, signal)
  if (
    check.problems.length === 0 &&
    (await isLegalLog(openLogReader({ ...place, directory: () => directory }), signal))
  ) {
    // Perhaps the work of a repair that died, or could not sync, after its rename.
    if (!dryRun && durable) await attempt('sync the session directory', directory, () => fs.syncDirectory(directory))
    return { dryRun, kept: check.events, lost: [] }
  }
  const opened = await openLog(fs, layout, directory, id)
  try {
    const { dialect, doubts } = await headerOf(place, opened, messageFormats)
    const { file, path, stat } = opened
    const source: ScanSource = { file, path, codec, dialect, end: stat.size, terminated: true }
    const plan = await RepairPlan.of(source, options)
    const found = plan.begin()
    const unread: Lost[] = []
    for await (const _ of found.pages(plan.proven(signal, (lost) => unread.push(lost))));
    const { kept, seen } = found
    if (seen === 0) {
      throw corruptError(opened.path, id, {
        offset: dialect.dataStart,
        message: 'nothing could be salvaged: no event can be proven',
      })
    }
    const told = doubts.map((message) => ({ message }))
    const lost = [...told, ...found.lost, ...plan.rivals, ...unread, ...plan.lostBytes()]
    if (dryRun) return { dryRun, kept, lost }
    const header = timedHeader(dialect.header, found.firstTime)
    const { originalAt, log, unsynced } = await rewriteLog(
      place,
      header,
      plan.begin().pages(plan.proven(signal, () => {})),
      ORIGINAL,
    )
    await log.close()
    // In place, and perhaps not for good: nobody may be told that it is done. Asking again settles it.
    if (unsynced !== undefined) throw unsynced
    return { dryRun, kept, lost, ...(originalAt === undefined ? {} : { originalAt }) }
  } finally {
    await opened.file.close().catch(() => {})
  }
}

/** A header whose time could not be told takes the time of the first event. */
function timedHeader(header: SessionHeader, firstTime: number | undefined): SessionHeader {
  return header.createdAt === 0 && firstTime !== undefined ? { ...header, createdAt: firstTime } : header
}

async function headerOf(
  { codec, id }: WriterPlace,
  opened: OpenedLog,
  messageFormats: StorageRepairOptions['messageFormats'],
): Promise<SalvagedHeader> {
  try {
    return { dialect: await readHeader(opened, codec, id), doubts: [] }
  } catch (error) {
    if (!isSessionError(error, 'CORRUPT')) throw error
    // More than a header: the units behind it are what proves it.
    const prefix = await readBytes(opened.file, opened.path, 0, Math.min(opened.stat.size, 2 * codec.headerBytesMax))
    const found = await codec.salvageHeader(prefix, id, messageFormats)
    if (found === undefined) {
      throw corruptError(opened.path, id, {
        offset: 0,
        message: 'nothing could be salvaged: no header, and no record that proves one',
      })
    }
    return found
  }
}
