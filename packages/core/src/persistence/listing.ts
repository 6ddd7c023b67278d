/** One page of session summaries (contract family LIST). */
import { isSessionError, SessionError } from '../errors.ts'
import { headReceipt } from '../event/event-json.ts'
import { isExhaustionCode } from '../exhaustion.ts'
import { LIMITS } from '../limits.ts'
import { eventAt } from '../session/read-events.ts'
import type { Settings } from '../session/settings.ts'
import { parseSummary, type SummaryFacts } from '../session/summary-document.ts'
import type { SessionStorage, StorageListEntry, StorageListKey, StorageListQuery } from '../storage/session-storage.ts'
import { withReader } from '../storage/with-reader.ts'
import { loadLog } from './load-log.ts'
import { decodeCursor, encodeCursor } from './page-cursor.ts'
import type { ListFilter, ListOptions, SessionPage, SessionSummary } from './session-persistence.ts'

const DEFAULT_LIMIT = 50
/** Summaries read at once: each waits for the medium several times, and holds one handle. */
const AT_ONCE = 8

/** INVALID_ARGUMENT for a limit, cursor or filter that is not of the documented form, alike on every backend. */
export async function listSessions(
  storage: SessionStorage,
  settings: Settings,
  options: ListOptions,
): Promise<SessionPage> {
  const limit = checkLimit(options.limit)
  const filter = options.filter ?? {}
  const sessions: SessionSummary[] = []
  let after: StorageListKey | undefined = options.cursor === undefined ? undefined : decodeCursor(options.cursor)
  for (;;) {
    options.signal?.throwIfAborted()
    // One more than asked for tells whether there is another page, without reading it.
    const entries = await storage.list(queryOf(filter, limit + 1, after, options.signal))
    for (let start = 0; start < entries.length; start += AT_ONCE) {
      if (sessions.length === limit) return { sessions, cursor: cursorBefore(entries, start, after) }
      const some = entries.slice(start, Math.min(start + AT_ONCE, entries.length))
      const summaries = await Promise.all(some.map((entry) => summarize(storage, settings, entry)))
      for (const [index, summary] of summaries.entries()) {
        if (sessions.length === limit) return { sessions, cursor: cursorBefore(entries, start + index, after) }
        if (hasLabels(summary, filter.labels)) sessions.push(summary)
      }
    }
    const last = entries.at(-1)
    if (last === undefined || entries.length <= limit) return { sessions }
    after = keyOf(last)
  }
}

function cursorBefore(entries: readonly StorageListEntry[], index: number, after: StorageListKey | undefined): string {
  const shown = entries[index - 1]
  const key = shown === undefined ? after : keyOf(shown)
  if (key === undefined) throw new SessionError('INVARIANT', 'a full page without a last entry')
  return encodeCursor(key)
}

function keyOf(entry: StorageListEntry): StorageListKey {
  return { updatedAt: entry.updatedAt, id: entry.id }
}

function queryOf(
  filter: ListFilter,
  limit: number,
  after: StorageListKey | undefined,
  signal: AbortSignal | undefined,
): StorageListQuery {
  const { labels: _labels, ...cheap } = filter
  return {
    ...cheap,
    limit,
    ...(after === undefined ? {} : { after }),
    ...(signal === undefined ? {} : { signal }),
  }
}

function hasLabels(summary: SessionSummary, wanted: ListFilter['labels']): boolean {
  if (wanted === undefined) return true
  return Object.entries(wanted).every(([name, value]) => summary.labels?.[name] === value)
}

async function summarize(
  storage: SessionStorage,
  settings: Settings,
  entry: StorageListEntry,
): Promise<SessionSummary> {
  const known = baseSummary(entry)
  if (entry.state === 'damaged' || entry.state === 'newer') return known
  try {
    const facts = await factsOf(storage, settings, entry)
    return facts === undefined ? known : { ...known, ...facts, labels: { ...entry.header?.labels, ...facts.labels } }
  } catch (error) {
    // What is wrong with one log shows on its own row and hides no other; anything else is not about this log.
    if (isSessionError(error, 'NOT_FOUND')) return known
    if (!isSessionError(error) || !isAboutOneLog(error)) throw error
    return { ...known, state: 'damaged', error }
  }
}

/** Without handles or memory every other row would fail as well. */
function isAboutOneLog({ code, cause }: SessionError): boolean {
  if (code === 'CORRUPT' || code === 'INVALID_EVENT' || code === 'PERMISSION_DENIED') return true
  return code === 'IO' && !(cause instanceof Error && 'code' in cause && isExhaustionCode(cause.code))
}

function baseSummary(entry: StorageListEntry): SessionSummary {
  const { header } = entry
  return {
    id: entry.id,
    state: entry.state,
    bytes: entry.bytes,
    ...(entry.owner === undefined ? {} : { owner: entry.owner }),
    ...(entry.updatedAt === undefined ? {} : { updatedAt: entry.updatedAt }),
    ...(entry.events === undefined ? {} : { events: entry.events }),
    ...(entry.error === undefined ? {} : { error: entry.error }),
    ...(header === undefined ? {} : { createdAt: header.createdAt, messageFormat: header.messageFormat }),
    ...(header?.cwd === undefined ? {} : { cwd: header.cwd }),
    ...(header?.parent === undefined ? {} : { parent: header.parent }),
    ...(header?.origin === undefined ? {} : { origin: header.origin }),
    ...(header?.labels === undefined ? {} : { labels: header.labels }),
  }
}

/** From the summary document when it describes the log's present end, else by folding. */
async function factsOf(
  storage: SessionStorage,
  settings: Settings,
  entry: StorageListEntry,
): Promise<Omit<SummaryFacts, 'messages'> | undefined> {
  const known = documentOf(entry)
  if (known !== undefined) return withoutMessages(known)
  return withReader(storage.openReader(entry.id), async (reader) => {
    const last = reader.tail.nextSeq - 1
    const text = last < 0 ? undefined : await reader.derived('summary')
    const document = text === undefined ? undefined : parseSummary(text, last)
    if (
      document !== undefined &&
      document.head.crc === headReceipt(await eventAt(reader, settings.upgrades, last)).crc
    ) {
      return withoutMessages(document.facts)
    }
    return withoutMessages((await loadLog(reader, settings)).fold.summary())
  })
}

/** What the entry itself brought, when it describes the log's present end. */
function documentOf({ summary, events }: StorageListEntry): SummaryFacts | undefined {
  if (summary === undefined || events === undefined) return undefined
  const document = parseSummary(summary.text, events - 1)
  return document?.head.crc === summary.crc ? document.facts : undefined
}

function withoutMessages({ messages: _messages, ...facts }: SummaryFacts): Omit<SummaryFacts, 'messages'> {
  return facts
}

function checkLimit(limit: number | undefined): number {
  if (limit === undefined) return DEFAULT_LIMIT
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMITS.pageSessions) return limit
  throw new SessionError('INVALID_ARGUMENT', `a page holds 1 to ${LIMITS.pageSessions} sessions`, {
    expected: LIMITS.pageSessions,
  })
}
