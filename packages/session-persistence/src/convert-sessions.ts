/** Whole sessions from one backend to another, with proof that they arrived. */
import {
  type AnySessionEvent,
  type HeadReceipt,
  headReceipt,
  isSessionError,
  LIMITS,
  type LogSource,
  type MissingEvents,
  SessionError,
  type SessionErrorCode,
  type SessionHeader,
  type SessionPersistence,
  withSessionId,
} from '@session-persistence/core'
import { digestLog, type LogDigest, LogHasher } from './log-digest.ts'

export interface ConvertOptions {
  /** Only these; default every session of the source. Newest first. */
  readonly ids?: readonly string[]
  /**
   * How a session that is in the target already is told from another one of the same id. `digest` (default) reads both
   * logs. `head` looks at the header, the number of events and the receipt of the last one: it cannot see a target that
   * was damaged since, nor one whose conversion was killed before its own proof.
   */
  readonly recognise?: 'digest' | 'head'
  /** Hears about long sessions: events stored so far. */
  readonly onProgress?: (id: string, events: number) => void
  readonly signal?: AbortSignal
}

/** What became of one session. */
export type ConvertedSession =
  /** Stored now, read back from the target, and found equal. `missing`: what the source is short of, and so its copy. */
  | ({ readonly outcome: 'converted'; readonly missing?: MissingEvents } & LogDigest)
  /** An equal session was in the target already. `digest` is absent with `recognise: 'head'`. */
  | ({ readonly outcome: 'present'; readonly digest?: string } & Omit<LogDigest, 'digest'>)
  /** The target is as it was before, unless `error` says that what was read back differs (CORRUPT). */
  | { readonly outcome: 'failed'; readonly id: string; readonly error: SessionError }

/** What is wrong with one session and no other. Anything else that the target says is true for all of them. */
const OF_ONE_SESSION: ReadonlySet<SessionErrorCode> = new Set([
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'INVALID_ID',
  'INVALID_EVENT',
  'UNKNOWN_EVENT',
  'TOO_LARGE',
  'CONFLICT',
  'LOCKED',
  'CORRUPT',
  'UNSUPPORTED_VERSION',
])

/**
 * Copies sessions to another backend, event for event: header, seqs, times and receipts stay. The source is not written
 * to. Each session appears in the target whole or not at all, so that a conversion which was killed is simply run
 * again: what has arrived is recognised, and the rest is copied. Every copy is read back and compared by digest.
 *
 * Yields each session when it is done. One that cannot be copied is yielded as `failed` and does not stop the others:
 * damaged or newer (CORRUPT, UNSUPPORTED_VERSION), open for writing (LOCKED), not there (NOT_FOUND), another one of the
 * same id in the target (ALREADY_EXISTS). Throws what holds for the whole target, such as NO_SPACE and READ_ONLY, and an
 * abort with the signal's reason; INVALID_ARGUMENT when source and target are one.
 */
export async function* convertSessions(
  from: SessionPersistence,
  to: SessionPersistence,
  options: ConvertOptions = {},
): AsyncGenerator<ConvertedSession, void, undefined> {
  const { signal } = options
  if (from === to) throw new SessionError('INVALID_ARGUMENT', 'source and target of a conversion are the same')
  for await (const { id, problem } of candidates(from, options)) {
    signal?.throwIfAborted()
    const failed = (error: unknown): ConvertedSession => ({ outcome: 'failed', id, error: asOne(error, id) })
    if (problem !== undefined) {
      yield failed(problem)
      continue
    }
    // Told apart from the target's: a source that fails for one session may give the others.
    const origin: { failure?: unknown } = {}
    try {
      yield await convertOne(from, to, id, options, origin)
    } catch (error) {
      signal?.throwIfAborted()
      if (!isSessionError(error) || error.code === 'CLOSED') throw error
      if (origin.failure === undefined && !OF_ONE_SESSION.has(error.code)) throw error
      yield failed(error)
    }
  }
}

function asOne(error: unknown, id: string): SessionError {
  const known = withSessionId(error, id)
  if (isSessionError(known)) return known
  throw error
}

interface Candidate {
  readonly id: string
  /** Known before it is touched. */
  readonly problem?: SessionError
}

/** Named ones are looked up in the list too: only it tells whether somebody writes them. */
async function* candidates(
  from: SessionPersistence,
  { ids, signal }: ConvertOptions,
): AsyncGenerator<Candidate, void, undefined> {
  if (ids === undefined) {
    yield* everySession(from, signal)
    return
  }
  const left = new Set(ids)
  for await (const candidate of everySession(from, signal)) if (left.delete(candidate.id)) yield candidate
  for (const id of left) yield { id }
}

async function* everySession(
  from: SessionPersistence,
  signal: AbortSignal | undefined,
): AsyncGenerator<Candidate, void, undefined> {
  let cursor: string | undefined
  do {
    const page = await from.list({
      limit: LIMITS.pageSessions,
      ...(signal === undefined ? {} : { signal }),
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const { id, state, error, owner } of page.sessions) {
      if (error !== undefined) yield { id, problem: error }
      else if (state === 'open') yield { id, problem: openForWriting(id, owner) }
      else yield { id }
    }
    cursor = page.cursor
  } while (cursor !== undefined)
}

/** The copy of a conversation that goes on would be out of date when it is done. */
function openForWriting(sessionId: string, owner: string | undefined): SessionError {
  const by = owner === undefined ? '' : `: ${owner}`
  return new SessionError('LOCKED', `the session is open for writing${by}`, { sessionId })
}

async function convertOne(
  from: SessionPersistence,
  to: SessionPersistence,
  id: string,
  options: ConvertOptions,
  origin: { failure?: unknown },
): Promise<ConvertedSession> {
  const { signal, onProgress } = options
  const abort = signal === undefined ? {} : { signal }
  const source = await ofSource(origin, () => from.exportLog(id, abort))
  const there = await stored(to, id, abort)
  if (there !== undefined) return recognised(from, to, source.header, there, options, origin)

  const hasher = new LogHasher(source.header)
  let count = 0
  const events = async function* (): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
    try {
      for await (const page of source.events) {
        for (const event of page) hasher.add(event)
        count += page.length
        yield page
        onProgress?.(id, count)
      }
    } catch (error) {
      origin.failure = error
      throw error
    }
  }
  await to.importLog({ ...source, events: events() }, abort)
  const wanted = hasher.finish()
  const found = await digestLog(to, id, abort)
  if (found.digest === wanted.digest) return { outcome: 'converted', ...found, ...missingIn(source, found.events) }
  throw differs(id, 'what was read back from the target differs from the source', wanted, found)
}

function missingIn({ knownHead }: LogSource, events: number): { readonly missing?: MissingEvents } {
  if (knownHead === undefined) return {}
  const { seq } = knownHead
  return { missing: seq >= events ? { from: events, to: seq } : { from: seq, to: seq, replaced: true } }
}

async function ofSource<T>(origin: { failure?: unknown }, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    origin.failure = error
    throw error
  }
}

async function stored(
  to: SessionPersistence,
  id: string,
  abort: { readonly signal?: AbortSignal },
): Promise<LogSource | undefined> {
  try {
    return await to.exportLog(id, abort)
  } catch (error) {
    if (isSessionError(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

/** A session under this id is in the target: an equal one, or an error. */
async function recognised(
  from: SessionPersistence,
  to: SessionPersistence,
  header: SessionHeader,
  there: LogSource,
  { recognise = 'digest', signal }: ConvertOptions,
  origin: { failure?: unknown },
): Promise<ConvertedSession> {
  const { id } = header
  const abort = signal === undefined ? {} : { signal }
  const wanted = await ofSource(origin, () => headOf(from, id, abort))
  const found = await headOf(to, id, abort)
  const equal =
    JSON.stringify(header) === JSON.stringify(there.header) && wanted.seq === found.seq && wanted.crc === found.crc
  const facts = { id, events: found.seq + 1, head: found }
  if (!equal) {
    const message = `another session with this id is in the target: its content differs (events there: ${found.seq + 1}, here: ${wanted.seq + 1})`
    throw new SessionError('ALREADY_EXISTS', message, { sessionId: id })
  }
  if (recognise === 'head') return { outcome: 'present', ...facts }
  const whole = await ofSource(origin, () => digestLog(from, id, abort))
  const copy = await digestLog(to, id, abort)
  if (whole.digest === copy.digest) return { outcome: 'present', ...copy }
  throw differs(id, 'a session that ends equally is in the target, and its log differs', whole, copy)
}

/** The receipt of the last event; reads no more than that. */
async function headOf(
  persistence: SessionPersistence,
  id: string,
  abort: { readonly signal?: AbortSignal },
): Promise<HeadReceipt> {
  for await (const event of persistence.read(id, { reverse: true, ...abort })) return headReceipt(event)
  return headReceipt(undefined)
}

function differs(sessionId: string, message: string, wanted: LogDigest, found: LogDigest): SessionError {
  return new SessionError('CORRUPT', message, { sessionId, expected: wanted.digest, found: found.digest })
}
