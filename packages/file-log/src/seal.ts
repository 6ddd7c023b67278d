/**
 * Merges small batches into large ones: a new file beside the old, synced, renamed over it. What is merged already is
 * copied as it is; events, seqs and receipts stay the same, so that a crash at any point leaves one of two equal logs.
 * Readers of the old file go on undisturbed.
 */
import { type AnySessionEvent, isElided, SessionError } from '@session-persistence/core'
import type { OpenFile } from './file-system.ts'
import { attempt, ioError } from './io-error.ts'
import type { ByteSource, SealPlan } from './log-codec.ts'
import { corruptError } from './log-snapshot.ts'
import type { WriterPlace } from './log-writer.ts'
import { createPrivateFile } from './private-path.ts'
import { byteSource, readInto } from './read-bytes.ts'
import { scanForward } from './scan-pages.ts'
import type { SettledLog } from './stored-log.ts'
import { writeFully } from './write-bytes.ts'

const STEP_BYTES = 1024 * 1024

/** What sealing did to one log. */
export interface SealReport {
  /** Batches that were merged; 0 when there was nothing to merge. */
  readonly batches: number
  /** Bytes of the log. */
  readonly bytesBefore: number
  readonly bytesAfter: number
}

/**
 * The caller holds the lock. CONFLICT when the file is not what the writer left, CORRUPT at the first damage, and then
 * nothing has changed; NOT_SUPPORTED for a codec that merges nothing.
 */
export async function sealLog(
  place: WriterPlace,
  settled: SettledLog,
  occasion: 'close' | 'asked',
  signal?: AbortSignal,
): Promise<SealReport> {
  const { fs, layout, name, id } = place
  const { sealing } = settled.dialect
  const path = layout.log(layout.directory(name))
  if (sealing === undefined) {
    throw new SessionError('NOT_SUPPORTED', 'the batches of this format cannot be merged', { sessionId: id, path })
  }
  const nothing: SealReport = { batches: 0, bytesBefore: settled.length, bytesAfter: settled.length }
  const file = await attempt('open the log to seal it', path, () => fs.open(path, 'read'))
  try {
    const stat = await attempt('look at the log', path, () => file.stat())
    if (stat.identity !== settled.identity || stat.size !== settled.length) throw conflict(path, settled, stat.size)
    const source = byteSource(file, path, settled.length)
    const plan = await sealing.plan(source, settled.length, occasion)
    if (plan === undefined) return nothing
    const bytesAfter = await replaceEnd(place, settled, file, plan, (offset) =>
      sealing.merge(eventsFrom(place, settled, source, file, plan, signal), offset),
    )
    return { batches: plan.batches, bytesBefore: settled.length, bytesAfter }
  } finally {
    await file.close().catch(() => {})
  }
}

async function* eventsFrom(
  { codec, id }: WriterPlace,
  { dialect, length }: SettledLog,
  { path }: ByteSource,
  file: OpenFile,
  plan: SealPlan,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
  const source = { file, path, codec, dialect, end: length, terminated: true }
  const everything = { from: 0, to: Number.MAX_SAFE_INTEGER, elideChunks: false }
  for await (const page of scanForward(source, { offset: plan.offset, seq: plan.seq }, everything)) {
    signal?.throwIfAborted()
    yield page.records.filter((record): record is AnySessionEvent => !isElided(record))
    if (page.damage !== undefined) throw corruptError(path, id, page.damage)
  }
}

/** Resolves with the length of the new file. */
async function replaceEnd(
  { fs, layout, name, durable }: WriterPlace,
  settled: SettledLog,
  old: OpenFile,
  plan: SealPlan,
  partsFrom: (offset: number) => AsyncIterable<Buffer>,
): Promise<number> {
  const directory = layout.directory(name)
  const path = layout.log(directory)
  const temporary = layout.temporaryFile(directory)
  const { file } = await attempt('seal the log', temporary, () => createPrivateFile(fs, temporary))
  let length = plan.offset
  try {
    await copyStart(old, path, file, plan.offset)
    for await (const part of partsFrom(plan.offset)) {
      await attempt('seal the log', temporary, () => writeFully(file, part, length))
      length += part.length
    }
    if (durable) await attempt('sync the sealed log', temporary, () => file.sync())
    const now = fs.lstatSync(path)
    if (now.identity !== settled.identity || now.size !== settled.length) throw conflict(path, settled, now.size)
    await fs.rename(temporary, path)
  } catch (error) {
    await fs.unlink(temporary).catch(() => {})
    throw ioError(error, 'seal the log', path)
  } finally {
    await file.close().catch(() => {})
  }
  if (durable) await attempt('sync the session directory', directory, () => fs.syncDirectory(directory))
  return length
}

async function copyStart(from: OpenFile, path: string, to: OpenFile, length: number): Promise<void> {
  const step = Buffer.allocUnsafe(Math.min(STEP_BYTES, length))
  for (let at = 0; at < length; ) {
    const part = step.subarray(0, Math.min(step.length, length - at))
    const count = await readInto(from, path, part, at)
    if (count < part.length)
      throw new SessionError('CONFLICT', 'the log shrank while it was sealed', { path, offset: at })
    await writeFully(to, part, at)
    at += count
  }
}

function conflict(path: string, settled: SettledLog, found: number): SessionError {
  return new SessionError('CONFLICT', 'the log is not as its writer left it', { path, expected: settled.length, found })
}
