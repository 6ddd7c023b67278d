/** A complete log in and out, event for event: what import, export and conversion between backends are made of. */
import { type ArgumentCheck, checkedLater, listOf } from '../argument-checks.ts'
import { isSessionError } from '../errors.ts'
import { decodeEvent } from '../event/decode-event.ts'
import type { AnySessionEvent } from '../event/event.ts'
import { BATCH_SIZE_MAX, checkEventBytes } from '../event/event-bytes.ts'
import { headReceipt } from '../event/event-json.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'
import type { SessionHeader } from '../event/header.ts'
import { losslessCopy } from '../event/lossless-json.ts'
import { LogFold } from '../projection/log-fold.ts'
import { eventPages } from '../session/read-events.ts'
import type { Settings } from '../session/settings.ts'
import { summaryFacts, summaryText } from '../session/summary-document.ts'
import type { StorageReader, StorageWriter } from '../storage/session-storage.ts'
import { withReader } from '../storage/with-reader.ts'
import { KnownEnd } from './missing-events.ts'
import type { LogSource } from './session-persistence.ts'

/** The header that a source's log is stored with: of the current format. */
export function importedHeader(header: SessionHeader, settings: Settings): SessionHeader {
  settings.upgrades.check(header.version)
  return header.version === settings.upgrades.current ? header : settings.upgrades.header(header)
}

/**
 * Damage is confined to a batch, and a log that is cut short reads as torn from its last batch on: an import in one batch
 * would be all or nothing for ever. A staged log is synced once, so that small batches cost little.
 */
const BATCH_EVENTS_MAX = 128

/**
 * Writes every event into a staged log and makes it appear whole. Types that the catalog does not know are kept as
 * they are; the grammar is checked as on append.
 */
export async function writeCopy(
  source: LogSource,
  writer: StorageWriter,
  settings: Settings,
  signal: AbortSignal | undefined,
): Promise<{ readonly events: number; readonly head: HeadReceipt }> {
  const fold = new LogFold(settings.projections)
  const { version } = source.header
  let batch: AnySessionEvent[] = []
  let batchSize = 0
  let last: AnySessionEvent | undefined
  const write = async (): Promise<void> => {
    if (batch.length > 0) await writer.append(batch)
    batch = []
    batchSize = 0
  }
  for await (const page of source.events) {
    signal?.throwIfAborted()
    for (const given of eventsOf(page, 'a page of source.events')) {
      const { event, size } = checked(given)
      const current = version === settings.upgrades.current ? event : settings.upgrades.event(version, event)
      fold.accept(current)
      if (batchSize + size > BATCH_SIZE_MAX || batch.length === BATCH_EVENTS_MAX) await write()
      batch.push(current)
      batchSize += size
      last = current
    }
    await write()
  }
  // Before the copy can be seen: there must be no moment in which it knows less than the log. Nothing stands beside no event.
  if (source.knownHead === undefined) await writer.publish()
  else {
    const witness = summaryText(summaryFacts(source.header, fold), source.knownHead)
    if (last !== undefined) await writer.saveDerived('summary', witness)
    await writer.publish()
    if (last === undefined) await writer.saveDerived('summary', witness)
  }
  return { events: fold.nextSeq, head: headReceipt(last) }
}

/** Each event is checked on its own. */
const eventsOf: ArgumentCheck<readonly AnySessionEvent[]> = listOf<AnySessionEvent>(checkedLater())

/** A source is untrusted input: its events get the envelope and losslessness checks that append makes. */
function checked(given: AnySessionEvent): { readonly event: AnySessionEvent; readonly size: number } {
  const { value, size } = losslessCopy(given)
  const event = decodeEvent(value)
  checkEventBytes(event, size)
  return { event, size }
}

/** The stored log as it stands now; its reader opens when the events are asked for, so that an unused source holds nothing. */
export function sourceOf(
  open: () => Promise<StorageReader>,
  settings: Settings,
  signal: AbortSignal | undefined,
): Promise<LogSource> {
  return withReader(open(), async (reader) => {
    const header = settings.upgrades.header(reader.header)
    const knownHead = await headNotHeld(reader, open, settings)
    return {
      header,
      events: pagesTo(open, settings, reader.tail.nextSeq - 1, signal),
      ...(knownHead === undefined ? {} : { knownHead }),
    }
  })
}

async function headNotHeld(
  reader: StorageReader,
  again: () => Promise<StorageReader>,
  settings: Settings,
): Promise<HeadReceipt | undefined> {
  const known = await KnownEnd.read(reader, settings)
  try {
    return (await known?.missing(reader, { again, always: true })) === undefined ? undefined : known?.head
  } catch (error) {
    // Nobody gets past that event: who reads the source is told where the damage is.
    if (isSessionError(error, 'CORRUPT')) return undefined
    throw error
  }
}

async function* pagesTo(
  open: () => Promise<StorageReader>,
  settings: Settings,
  to: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
  const reader = await open()
  try {
    // Read without an end, so that damage behind the last sound batch is met; what was written since is left out.
    for await (const page of eventPages(reader, settings.upgrades, signal === undefined ? {} : { signal })) {
      const rest = page.filter((event) => event.seq <= to)
      if (rest.length > 0) yield rest
      if (rest.length < page.length) return
    }
  } finally {
    await reader.close()
  }
}
