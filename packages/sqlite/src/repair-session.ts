/**
 * Explicit salvage of a corrupt log, or of one whose events cannot follow each other. Every record that can be proven is
 * kept in its place; core makes a legal log of them (`SalvagedLog`). The original rows stay in the database.
 *
 * Damaged pages are another matter: nothing is written into a database whose pages SQLite itself finds damaged.
 */
import {
  type AnySessionEvent,
  checkHeader,
  FORMAT_VERSION,
  isLegalLog,
  isSessionError,
  leftHeader,
  SalvagedLog,
  SessionError,
  type SessionHeader,
  type StorageRepair,
  type StorageRepairOptions,
} from '@session-persistence/core'
import { checkSession } from './check-session.ts'
import { findToRead, isIndexProblem } from './damaged-index.ts'
import type { Database } from './database.ts'
import { DERIVED_LOST, isDerivedSound } from './derived-table.ts'
import { nextTurn } from './group-commit.ts'
import { isFreeListProblem } from './page-check.ts'
import { provenSlice, type RawSession, rawSession } from './proven-records.ts'
import { originalAt, rewriteSession } from './rewrite-session.ts'
import { headerCrc } from './session-row.ts'
import { expectedRefusal, mendShared, type SharedDamage } from './shared-damage.ts'
import { SqliteReader } from './sqlite-reader.ts'

/** Suffix of the kept original. */
const ORIGINAL = 'damaged'
/** Missing seqs that are filled in all: a forged seq must not fill the disk. */
const MISSING_MAX = 1_000_000

type Lost = StorageRepair['lost'][number]

/** `dryRun` reads without a lock; otherwise the caller holds it. A log that is whole and legal is left as it is. */
export async function repairSession(
  database: Database,
  id: string,
  options: StorageRepairOptions,
): Promise<StorageRepair | undefined> {
  const { dryRun, signal } = options
  const check = await checkSession(database, id, signal)
  if (check === undefined) return undefined
  const problems = check.problems.filter((problem) => !isIndexProblem(problem) && !isFreeListProblem(problem))
  const isWhole = problems.length === 0 && (await isLegal(database, id, signal))
  const shared: SharedDamage = {
    derived: (await database.read(isDerivedSound)) === false,
    indexes: check.problems.some(isIndexProblem),
    others: !isWhole || check.problems.some(isFreeListProblem),
    appends: isWhole,
  }
  const lost = shared.derived ? [DERIVED_LOST] : []
  const refusal = dryRun ? await expectedRefusal(database, id, shared) : undefined
  if (!dryRun) await mendShared(database, id, shared)
  const refused = refusal === undefined ? [] : [{ message: refusal.message }]
  if (isWhole) return { dryRun, kept: check.events, lost: [...lost, ...refused] }
  const { salvage, number, kept } = await judged(database, id, options).catch((error: unknown) => {
    // What can be done is news, and not which page stands in the way.
    throw refusal !== undefined && isSessionError(error, 'CORRUPT') ? refusal : error
  })
  if (dryRun) return { dryRun, kept, lost: [...salvage.lost, ...lost, ...refused] }
  await rewriteSession(database, number, salvage.header(), salvage.events(signal), ORIGINAL)
  return { dryRun, kept, lost: [...salvage.lost, ...lost], originalAt: originalAt(database, number) }
}

/** What can be proven of the session; CORRUPT when that is nothing. */
async function judged(
  database: Database,
  id: string,
  { signal, messageFormats }: StorageRepairOptions,
): Promise<{ readonly salvage: Salvage; readonly number: number; readonly kept: number }> {
  const found = await database.read((connection) => rawSession(connection, id))
  if (found === undefined) throw unprovable(database, id)
  const salvage = new Salvage(database, found, messageFormats)
  const { kept, seen } = await salvage.judge(signal)
  if (seen === 0) throw unprovable(database, id)
  return { salvage, number: found.number, kept }
}

/** A log that was deleted meanwhile has nothing to be repaired. */
async function isLegal(database: Database, id: string, signal: AbortSignal | undefined): Promise<boolean> {
  const stored = await database.read((connection) => findToRead(connection, id))
  return stored === undefined || (await isLegalLog(Promise.resolve(new SqliteReader(database, stored)), signal))
}

class Salvage {
  readonly lost: Lost[] = []
  readonly #database: Database
  readonly #session: RawSession
  readonly #messageFormats: StorageRepairOptions['messageFormats']
  #firstTime = 0

  constructor(database: Database, session: RawSession, messageFormats: StorageRepairOptions['messageFormats']) {
    this.#database = database
    this.#session = session
    this.#messageFormats = messageFormats
  }

  /** Decides how many events the repaired log has, and says what is lost. */
  async judge(signal: AbortSignal | undefined): Promise<Pick<SalvagedLog, 'kept' | 'seen'>> {
    const found = this.#begin()
    for await (const _ of found.pages(this.#provenRecords(signal)));
    const { kept, seen } = found
    this.#firstTime = found.firstTime ?? 0
    this.lost.push(...found.lost)
    const { end } = this.#session
    if (end === undefined) {
      this.lost.push({
        message: `whether events came behind seq ${seen - 1} cannot be told: the session's row is damaged`,
      })
    } else if (seen < end) {
      this.lost.push({ message: 'the last events are lost', from: seen, to: end - 1 })
    }
    this.#headerOr((message) => this.lost.push({ message }))
    return { kept, seen }
  }

  header(): SessionHeader {
    return this.#headerOr(() => {})
  }

  events(signal: AbortSignal | undefined): AsyncIterable<readonly AnySessionEvent[]> {
    return this.#begin().pages(this.#provenRecords(signal))
  }

  /** A pass over what can be proven; each decides alike. */
  #begin(): SalvagedLog {
    const { messageFormat } = this.#headerOr(() => {})
    return new SalvagedLog({
      judged: true,
      messageFormat,
      messageFormats: this.#messageFormats,
      missingMax: MISSING_MAX,
      isEndLost: (seen) => this.#session.end === undefined || seen < this.#session.end,
    })
  }

  #headerOr(doubt: (message: string) => void): SessionHeader {
    const { id, header, headerCrc: crc, salt } = this.#session
    const text = header instanceof Uint8Array ? Buffer.from(header).toString('utf8') : String(header ?? '')
    try {
      const found = checkHeader(JSON.parse(text), 'CORRUPT')
      const isProven = typeof header === 'string' && headerCrc(text, salt) === crc
      if (isProven && found.id === id && found.version === FORMAT_VERSION) return found
    } catch {
      // Said below.
    }
    const left = leftHeader(text, id, this.#messageFormats)
    for (const message of left.doubts) doubt(message)
    return left.header.createdAt === 0 ? { ...left.header, createdAt: this.#firstTime } : left.header
  }

  /** The events of every record that verifies, a slice at a time. */
  async *#provenRecords(signal: AbortSignal | undefined): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
    const { number, salt } = this.#session
    for (let from = 0; ; ) {
      signal?.throwIfAborted()
      const start = from
      const slice = await this.#database.read((connection) => provenSlice(connection, number, salt, start))
      if (slice === undefined) return
      yield slice.events
      if (slice.next === undefined) return
      from = slice.next
      await nextTurn()
    }
  }
}

function unprovable({ file }: Database, sessionId: string): SessionError {
  return new SessionError('CORRUPT', `nothing could be salvaged: no record can be proven: ${file.given}`, {
    sessionId,
    path: file.given,
  })
}
