import { isDeepStrictEqual } from 'node:util'
import {
  type AnySessionEvent,
  eventJson,
  isSessionError,
  type LogSource,
  SessionError,
  type SessionHeader,
  type SessionPersistence,
} from '@session-persistence/core'
import { type ReadLogsFromPathOptions, readLogs } from './read-logs.ts'
import type { ImportedLog } from './reader.ts'
import type { ImportReport } from './report/import-report.ts'

/** What became of one log. */
export interface ImportedSession {
  readonly id: string
  /**
   * `imported`: stored now. `unchanged`: an equal log is stored under this id already. `continued`: it is, and the session
   * went on since.
   */
  readonly outcome: 'imported' | 'unchanged' | 'continued'
  readonly header: SessionHeader
  readonly events: number
  readonly report: ImportReport
}

export interface ImportFileReport {
  readonly path: string
  readonly format: string
  /** Parents before children. */
  readonly sessions: readonly ImportedSession[]
}

/**
 * Stores every log of a file. Each one is whole or absent. When an id is taken by other content, all ids of this file get
 * its hash behind them, so that the sessions of one file keep their relations. Errors as `readLogs` and `importLog`;
 * ALREADY_EXISTS when the hashed id is taken by other content, too.
 */
export async function importFile(
  persistence: SessionPersistence,
  path: string,
  options: ReadLogsFromPathOptions = {},
): Promise<ImportFileReport> {
  const { signal, hashedIds = false } = options
  let found = await look(persistence, path, options)
  if (!hashedIds && found.some(({ there }) => there === 'other')) {
    found = await look(persistence, path, { ...options, hashedIds: true })
  }
  const sessions: ImportedSession[] = []
  for (const { log, there } of found) {
    const { header, report } = log
    const { id } = header
    if (there === 'other') {
      const message = `A session with the id ${id} and other content is stored already`
      throw new SessionError('ALREADY_EXISTS', message, { sessionId: id })
    }
    if (there === 'nothing') await persistence.importLog(log, signal === undefined ? {} : { signal })
    const outcome = there === 'nothing' ? 'imported' : there
    sessions.push({ id, outcome, header, events: report.events, report })
  }
  return { path, format: found[0]?.log.report.format ?? '', sessions }
}

interface Found {
  readonly log: ImportedLog
  readonly there: Stored
}

/** Reads a file and compares each of its logs with what is stored under its id. */
async function look(persistence: SessionPersistence, path: string, options: ReadLogsFromPathOptions): Promise<Found[]> {
  const found: Found[] = []
  for await (const log of readLogs(path, options)) {
    found.push({ log, there: await stored(persistence, log, options.signal) })
  }
  return found
}

type Stored = 'nothing' | 'unchanged' | 'continued' | 'other'

/** What is stored under a log's id. A session that cannot be read is another one. */
async function stored(
  persistence: SessionPersistence,
  log: LogSource,
  signal: AbortSignal | undefined,
): Promise<Stored> {
  try {
    const there = await persistence.exportLog(log.header.id, signal === undefined ? {} : { signal })
    return isDeepStrictEqual(withoutVersion(there.header), withoutVersion(log.header))
      ? await compare(log, there)
      : 'other'
  } catch (error) {
    if (isSessionError(error, 'NOT_FOUND')) return 'nothing'
    if (isSessionError(error, 'CORRUPT') || isSessionError(error, 'UNSUPPORTED_VERSION')) return 'other'
    throw error
  }
}

function withoutVersion({ version: _version, ...header }: SessionHeader): object {
  // A copy with an ordinary prototype, whatever the backend made the header with.
  return JSON.parse(JSON.stringify(header)) as object
}

async function compare(log: LogSource, there: LogSource): Promise<'unchanged' | 'continued' | 'other'> {
  const theirs = eventsOf(there)
  try {
    for await (const event of eventsOf(log)) {
      const next = await theirs.next()
      if (next.done === true || eventJson(next.value) !== eventJson(event)) return 'other'
    }
    return (await theirs.next()).done === true ? 'unchanged' : 'continued'
  } finally {
    await theirs.return()
  }
}

async function* eventsOf({ events }: LogSource): AsyncGenerator<AnySessionEvent, void, undefined> {
  for await (const page of events) yield* page
}
