/** Events of a stored log as an AsyncIterable, exact in its bounds and bounded in memory (contract family READ). */
import { type ArgumentCheck, aBoolean, anAbortSignal, aSeq, onlyOptions } from '../argument-checks.ts'
import { SessionError, withSessionId } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import type { UpgradeChain } from '../event/format-version.ts'
import { type ElidedChunks, isElided, type StorageReader } from '../storage/session-storage.ts'
import { EventCursor } from './event-cursor.ts'
import type { ReadOptions } from './session.ts'

export const readArguments: ArgumentCheck<ReadOptions> = onlyOptions<ReadOptions>({
  from: aSeq,
  to: aSeq,
  reverse: aBoolean,
  signal: anAbortSignal,
})

/** What is read, and how the errors of reading it name it. */
export interface ReadSource {
  openReader(): Promise<StorageReader>
  readonly upgrades: UpgradeChain
  readonly id: string
}

/** INVALID_ARGUMENT at the call, not at the first event. */
export function readEvents(source: ReadSource, options: ReadOptions): AsyncIterable<AnySessionEvent> {
  const checked = readArguments(options, 'options')
  return new EventCursor(storedPages(source, checked), checked.signal)
}

/** The same events as they come from the medium, some hundred at once. INVALID_ARGUMENT at the call. */
export function readEventPages(source: ReadSource, options: ReadOptions): AsyncIterable<readonly AnySessionEvent[]> {
  return storedPages(source, readArguments(options, 'options'))
}

async function* storedPages(
  { openReader, upgrades, id }: ReadSource,
  options: ReadOptions,
): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
  options.signal?.throwIfAborted()
  const reader = await openReader()
  try {
    for await (const page of eventPages(reader, upgrades, options)) {
      if (page.length > 0) yield page
      options.signal?.throwIfAborted()
    }
  } catch (error) {
    throw withSessionId(error, id)
  } finally {
    await reader.close()
  }
}

/** Pages of whole events, upgraded to the current format. */
export async function* eventPages(
  reader: StorageReader,
  upgrades: UpgradeChain,
  options: ReadOptions,
): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
  const { version } = reader.header
  upgrades.check(version)
  for await (const page of reader.read(options)) {
    if (!areEvents(page)) throw new SessionError('INVARIANT', 'the backend elided events that were asked for')
    yield version === upgrades.current ? page : page.map((event) => upgrades.event(version, event))
  }
}

function areEvents(page: readonly (AnySessionEvent | ElidedChunks)[]): page is readonly AnySessionEvent[] {
  for (const record of page) if (isElided(record)) return false
  return true
}

/** One event by seq; CORRUPT when the log does not hold it. */
export async function eventAt(reader: StorageReader, upgrades: UpgradeChain, seq: number): Promise<AnySessionEvent> {
  for await (const page of eventPages(reader, upgrades, { from: seq, to: seq })) {
    const event = page[0]
    if (event !== undefined) return event
  }
  throw new SessionError('CORRUPT', `the log has no event with seq ${seq}`, { seq })
}
