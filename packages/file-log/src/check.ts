/** Verifies every record of one log, and goes on behind damage. */
import {
  isSessionError,
  type SessionError,
  type StorageCheck,
  type StorageProblem,
  type TornTail,
} from '@session-persistence/core'
import type { ListingPlace } from './list-row.ts'
import type { LogDialect, LogTail } from './log-codec.ts'
import { type OpenedLog, openLog, readHeader } from './log-snapshot.ts'
import { nextUnit } from './next-unit.ts'
import { type ScanSource, scanForward } from './scan-pages.ts'
import type { ScanStart } from './seek.ts'
import { type Look, lookAtStillLog } from './still-log.ts'
import { findTail } from './tail.ts'

/** A log damaged in more places than this says nothing new. */
const PROBLEMS_MAX = 1000

/** Rejects for what is not about the content: NOT_FOUND, IO, PERMISSION_DENIED, an abort. */
export async function checkLog(
  { fs, layout, codec }: ListingPlace,
  directory: string,
  id: string,
  signal: AbortSignal | undefined,
): Promise<StorageCheck> {
  signal?.throwIfAborted()
  const { outcome, file } = await lookAtStillLog(async (): Promise<Look<StorageCheck>> => {
    const opened = await openLog(fs, layout, directory, id)
    try {
      const value = await checkOpened(opened, codec, id, signal)
      return { ...opened, outcome: { value }, isDamage: value.problems.length > 0 }
    } catch (error) {
      return { ...opened, outcome: { error }, isDamage: isSessionError(error, 'CORRUPT') }
    }
  })
  await file.close().catch(() => {})
  if ('error' in outcome) throw outcome.error
  return outcome.value
}

async function checkOpened(
  opened: OpenedLog,
  codec: ListingPlace['codec'],
  id: string,
  signal: AbortSignal | undefined,
): Promise<StorageCheck> {
  const { size: bytes } = opened.stat
  let dialect: LogDialect
  let tail: LogTail | undefined
  const problems: StorageProblem[] = []
  try {
    dialect = await readHeader(opened, codec, id)
  } catch (error) {
    return { events: 0, bytes, problems: [asProblem(error)] }
  }
  try {
    tail = await findTail(opened.file, opened.path, bytes, codec, dialect)
  } catch (error) {
    problems.push(asProblem(error))
  }
  const source = sourceOf(opened, codec, dialect, tail)
  const notes = new Set(dialect.notes)
  const events = await verifyRecords(source, problems, notes, signal)
  if (tail?.verdict.kind === 'corrupt' && tail.verdict.damage.offset >= tail.end) {
    problems.push(fromDamage(tail.verdict.damage))
  }
  return { events, bytes, problems, ...tornOf(tail), ...(notes.size > 0 ? { notes: [...notes] } : {}) }
}

function sourceOf(
  { file, path, stat }: OpenedLog,
  codec: ListingPlace['codec'],
  dialect: LogDialect,
  tail: LogTail | undefined,
): ScanSource {
  return { file, path, codec, dialect, end: tail?.end ?? stat.size, terminated: tail?.terminated ?? true }
}

/** Counts verified events and collects what is wrong between them. */
async function verifyRecords(
  source: ScanSource,
  problems: StorageProblem[],
  notes: Set<string>,
  signal: AbortSignal | undefined,
): Promise<number> {
  let events = 0
  let start: ScanStart | undefined = { offset: source.dialect.dataStart, seq: 0 }
  while (start !== undefined && problems.length < PROBLEMS_MAX) {
    const from: ScanStart = start
    start = undefined
    for await (const page of scanForward(source, from, {
      from: 0,
      to: Number.MAX_SAFE_INTEGER,
      elideChunks: false,
    })) {
      signal?.throwIfAborted()
      events += page.records.length
      for (const note of page.notes ?? []) notes.add(note)
      if (page.damage === undefined) continue
      problems.push(fromDamage(page.damage))
      start = await nextUnit(source, page.damage.offset + 1)
    }
  }
  return events
}

function fromDamage({ message, offset, seq }: { message: string; offset: number; seq?: number }): StorageProblem {
  return { code: 'CORRUPT', message, offset, ...(seq === undefined ? {} : { seq }) }
}

function asProblem(error: unknown): StorageProblem {
  if (!isSessionError(error)) throw error
  if (error.code !== 'CORRUPT' && error.code !== 'UNSUPPORTED_VERSION') throw error
  return problemOf(error, error.code)
}

function problemOf(error: SessionError, code: StorageProblem['code']): StorageProblem {
  return {
    code,
    message: error.message,
    ...(error.offset === undefined ? {} : { offset: error.offset }),
    ...(error.seq === undefined ? {} : { seq: error.seq }),
  }
}

function tornOf(tail: LogTail | undefined): { readonly torn?: TornTail } {
  if (tail?.verdict.kind !== 'torn') return {}
  return { torn: { offset: tail.verdict.offset, bytes: tail.verdict.bytes } }
}
