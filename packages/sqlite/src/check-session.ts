/** Verifies every record of one session, and goes on behind damage. */
import { isSessionError, type SessionError, type StorageCheck, type StorageProblem } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import { findToRead, indexProblems, isSameSession, isStillStored } from './damaged-index.ts'
import type { Database } from './database.ts'
import { derivedNotes } from './derived-document.ts'
import { nextTurn } from './group-commit.ts'
import { freeListProblems } from './page-check.ts'
import { type FoundRow, recordsFrom } from './record-rows.ts'
import { rowEvents, SEQ_SPAN } from './row-codec.ts'
import type { SessionRow } from './session-row.ts'
import { rowOf } from './session-statements.ts'
import { sessionTableNotes } from './session-table-notes.ts'
import { sqliteError } from './sqlite-error.ts'

/** A log damaged in more places than this says nothing new. */
const PROBLEMS_MAX = 1000
/** Bytes verified in one go: it holds the event loop. */
const SLICE_BYTES = 512 * 1024

const UNREACHABLE: StorageProblem = { code: 'CORRUPT', message: 'the session row is not found by its number' }

interface Progress {
  /** The seq that comes next. */
  readonly next: number
  /** Seq of the last row that was looked at, -1 before the first: the next slice starts with the row that holds it. */
  readonly last: number
  readonly state: 'going' | 'done' | 'gone'
}

interface Findings {
  readonly problems: StorageProblem[]
  events: number
}

/** Times that a session may be replaced while it is looked at. */
const REPLACED_MAX = 100

/** Undefined when the session is not there. Rejects for what is not about the content. */
export async function checkSession(
  database: Database,
  id: string,
  signal: AbortSignal | undefined,
): Promise<StorageCheck | undefined> {
  for (let round = 0; ; round++) {
    const found = await database.read((connection) => {
      try {
        const stored = findToRead(connection, id)
        if (stored === undefined) return undefined
        const { row } = stored
        return { row, known: databaseProblems(connection, row), notes: notesOf(connection, row) }
      } catch (error) {
        return asProblem(sqliteError(error, 'read the session', connection.path))
      }
    })
    if (found === undefined) return undefined
    if (!('row' in found)) return { events: 0, bytes: 0, problems: [found] }
    const { row, known, notes } = found
    const findings = await checkRecords(database, row, known, signal)
    if (findings === undefined && round < REPLACED_MAX) {
      signal?.throwIfAborted()
      await nextTurn()
      continue
    }
    // There each time it is asked for by its name, and never by its number: nobody replaces a session that fast.
    if (findings === undefined) return { events: 0, bytes: row.bytes, problems: [...known, UNREACHABLE] }
    const { events, problems } = findings
    return { events, bytes: row.bytes, problems, ...(notes.length > 0 ? { notes } : {}) }
  }
}

function notesOf(connection: Connection, row: SessionRow): readonly string[] {
  return [...derivedNotes(connection, row), ...sessionTableNotes(connection)]
}

/** What is wrong with what all sessions share. */
function databaseProblems(connection: Connection, row: SessionRow): readonly StorageProblem[] {
  return [...freeListProblems(connection), ...indexProblems(connection, row)]
}

/** Undefined when the session was deleted or replaced meanwhile: what was found so far says nothing of any log. */
async function checkRecords(
  database: Database,
  row: SessionRow,
  known: readonly StorageProblem[],
  signal: AbortSignal | undefined,
): Promise<Findings | undefined> {
  const findings: Findings = { problems: [...known], events: 0 }
  let progress: Progress = { next: 0, last: -1, state: 'going' }
  while (progress.state === 'going' && findings.problems.length < PROBLEMS_MAX) {
    signal?.throwIfAborted()
    const before = progress
    const after = await database.read((connection) => checkCurrent(connection, row, before, findings))
    if (after === undefined || after.state === 'gone') return undefined
    progress = after
    await nextTurn()
  }
  return findings
}

/** The log may have grown since it was looked at, or be gone: neither is damage. */
function checkCurrent(connection: Connection, row: SessionRow, progress: Progress, findings: Findings): Progress {
  let now: SessionRow | undefined
  try {
    now = rowOf(connection, row.number)
  } catch (error) {
    findings.problems.push(asProblem(sqliteError(error, 'read the session', connection.path)))
    return { ...progress, state: 'done' }
  }
  if (!isSameSession(now, row)) {
    if (!isStillStored(connection, row)) return { ...progress, state: 'gone' }
    findings.problems.push(UNREACHABLE)
    return { ...progress, state: 'done' }
  }
  return checkSlice(connection, now, progress, findings)
}

function checkSlice(
  connection: Connection,
  row: SessionRow,
  { next: expected, last: known }: Progress,
  findings: Findings,
): Progress {
  const { problems } = findings
  let next = expected
  let last = known
  // Where the row before ended. The first row was seen already, or is one that it was merged into meanwhile.
  let end: number | undefined
  let bytes = 0
  try {
    for (const rows of recordsFrom(connection, row, { from: Math.max(0, known), to: SEQ_SPAN - 1 })) {
      for (const found of rows) {
        const { seq } = found
        if (seq >= row.nextSeq) {
          problems.push({ code: 'CORRUPT', message: `there are records behind the end, seq ${row.nextSeq - 1}`, seq })
          return { next, last, state: 'done' }
        }
        end ??= known < 0 ? 0 : seq
        if (seq > end && seq > next) problems.push(missing(next, seq - 1))
        try {
          const events = eventsIn(found)
          if (seq < end) problems.push({ code: 'CORRUPT', message: `two records hold seq ${seq}`, seq })
          end = seq + events
          findings.events += Math.max(0, end - Math.max(next, seq))
        } catch (error) {
          if (seq > known) problems.push(asProblem(error))
          end = seq + 1
        }
        next = Math.max(next, end)
        if (seq <= known) continue
        last = seq
        bytes += found.damage === undefined ? found.data.bytes.length : 0
      }
      if (bytes >= SLICE_BYTES) return { next, last, state: 'going' }
    }
  } catch (error) {
    // The pages themselves: what lies behind them cannot be told.
    problems.push({ seq: next, ...asProblem(sqliteError(error, 'read a record', connection.path)) })
    return { next, last, state: 'done' }
  }
  if (next < row.nextSeq) problems.push(missing(next, row.nextSeq - 1))
  return { next, last, state: 'done' }
}

/** How many events a row proves; throws what is wrong with it. */
function eventsIn(row: FoundRow): number {
  if (row.damage !== undefined) throw row.damage
  return rowEvents(row).length
}

function missing(from: number, to: number): StorageProblem {
  return { code: 'CORRUPT', message: `the records from seq ${from} to ${to} are missing`, seq: from }
}

function asProblem(error: unknown): StorageProblem {
  if (!isSessionError(error) || (error.code !== 'CORRUPT' && error.code !== 'UNSUPPORTED_VERSION')) throw error
  const { code, message, seq }: SessionError = error
  return {
    code: code === 'CORRUPT' ? 'CORRUPT' : 'UNSUPPORTED_VERSION',
    message,
    ...(seq === undefined ? {} : { seq }),
  }
}
