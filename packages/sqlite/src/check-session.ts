/** Verifies every record of one session, and goes on behind damage. */
import { isSessionError, type SessionError, type StorageCheck, type StorageProblem } from '@session-persistence/core'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { nextTurn } from './group-commit.ts'
import { checkRow } from './log-page.ts'
import { SEQ_SPAN } from './row-codec.ts'
import type { SessionRow } from './session-row.ts'
import { findSession, recordsFrom, rowOf } from './session-statements.ts'
import { sqliteError } from './sqlite-error.ts'

/** A log damaged in more places than this says nothing new. */
const PROBLEMS_MAX = 1000
/** Bytes verified in one go: it holds the event loop. */
const SLICE_BYTES = 512 * 1024

interface Progress {
  /** Seq at which the next slice starts. */
  readonly next: number
  readonly done: boolean
}

/** Undefined when the session is not there. Rejects for what is not about the content. */
export async function checkSession(
  database: Database,
  id: string,
  signal: AbortSignal | undefined,
): Promise<StorageCheck | undefined> {
  const found = await database.read((connection) => {
    try {
      return findSession(connection, id)
    } catch (error) {
      return asProblem(sqliteError(error, 'read the session', connection.path))
    }
  })
  if (found === undefined) return undefined
  if (!('row' in found)) return { events: 0, bytes: 0, problems: [found] }
  const { row } = found
  const problems: StorageProblem[] = []
  const count = { events: 0 }
  let progress: Progress = { next: 0, done: false }
  while (!progress.done && problems.length < PROBLEMS_MAX) {
    signal?.throwIfAborted()
    const from = progress.next
    progress = (await database.read((connection) => checkCurrent(connection, row, from, problems, count))) ?? {
      next: from,
      done: true,
    }
    await nextTurn()
  }
  return { events: count.events, bytes: row.bytes, problems }
}

/** The log may have grown since it was looked at, or be gone: neither is damage. */
function checkCurrent(
  connection: Connection,
  row: SessionRow,
  from: number,
  problems: StorageProblem[],
  count: { events: number },
): Progress {
  let now: SessionRow | undefined
  try {
    now = rowOf(connection, row.number)
  } catch (error) {
    problems.push(asProblem(sqliteError(error, 'read the session', connection.path)))
    return { next: from, done: true }
  }
  if (now === undefined || now.salt !== row.salt) return { next: from, done: true }
  return checkSlice(connection, now, from, problems, count)
}

function checkSlice(
  connection: Connection,
  row: SessionRow,
  from: number,
  problems: StorageProblem[],
  count: { events: number },
): Progress {
  let next = from
  let bytes = 0
  try {
    for (const stored of recordsFrom(connection, row.number, from, SEQ_SPAN - 1)) {
      const seq = Number(stored[0]) % SEQ_SPAN
      if (seq >= row.nextSeq) {
        problems.push({ code: 'CORRUPT', message: `there are records behind the end, seq ${row.nextSeq - 1}`, seq })
        return { next, done: true }
      }
      if (seq > next) problems.push(missing(next, seq - 1))
      try {
        const { events } = checkRow(stored, row.salt)
        if (seq < next) problems.push({ code: 'CORRUPT', message: `two records hold seq ${seq}`, seq })
        count.events += events
        next = seq + events
      } catch (error) {
        problems.push(asProblem(error))
        next = seq + 1
      }
      if (typeof stored[4] === 'string') bytes += stored[4].length
      if (bytes >= SLICE_BYTES) return { next, done: false }
    }
  } catch (error) {
    // The pages themselves: what lies behind them cannot be told.
    problems.push({ seq: next, ...asProblem(sqliteError(error, 'read a record', connection.path)) })
    return { next, done: true }
  }
  if (next < row.nextSeq) problems.push(missing(next, row.nextSeq - 1))
  return { next, done: true }
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
