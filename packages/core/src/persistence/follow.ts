/** Stored events, then what writers of any process write, until the session is deleted. */
import { isSessionError, withSessionId } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import { headReceipt } from '../event/event-json.ts'
import type { SessionHeader } from '../event/header.ts'
import { eventAt, eventPages } from '../session/read-events.ts'
import type { Settings } from '../session/settings.ts'
import type { SessionStorage, StorageReader } from '../storage/session-storage.ts'

export interface FollowOptions {
  /** Inclusive; default 0. */
  readonly from?: number
  readonly signal?: AbortSignal
}

export async function* followEvents(
  storage: SessionStorage,
  settings: Settings,
  id: string,
  options: FollowOptions,
): AsyncGenerator<AnySessionEvent, void, undefined> {
  const { signal } = options
  let next = options.from ?? 0
  let followed: Followed | undefined
  for (;;) {
    signal?.throwIfAborted()
    const reader = await reopen(storage, settings, id, followed)
    if (reader === undefined) return
    try {
      followed ??= { header: reader.header, last: undefined }
      // Also where nothing new is counted: a read to the end meets damage behind the last sound batch.
      const range = { from: next, ...(signal === undefined ? {} : { signal }) }
      for await (const page of eventPages(reader, settings.upgrades, range)) {
        for (const event of page) {
          signal?.throwIfAborted()
          next = event.seq + 1
          followed.last = event
          yield event
        }
      }
      if ((await reader.changed(signal)) === 'deleted') return
    } catch (error) {
      // Deleted while its pages were read, on a medium that holds nothing for its readers.
      if (isSessionError(error, 'NOT_FOUND')) return
      throw withSessionId(error, id)
    } finally {
      await reader.close()
    }
  }
}

interface Followed {
  readonly header: SessionHeader
  /** The newest event that was yielded. */
  last: AnySessionEvent | undefined
}

/** Undefined when the session that was being followed is gone, also when another one took its id. */
async function reopen(
  storage: SessionStorage,
  settings: Settings,
  id: string,
  followed: Followed | undefined,
): Promise<StorageReader | undefined> {
  try {
    const reader = await storage.openReader(id)
    let same = followed === undefined
    try {
      same ||= followed !== undefined && (await isFollowed(reader, settings, followed))
    } finally {
      if (!same) await reader.close()
    }
    return same ? reader : undefined
  } catch (error) {
    if (followed !== undefined && isSessionError(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

/** The same session holds, where it stood, the event that it stood at. */
async function isFollowed(reader: StorageReader, settings: Settings, { header, last }: Followed): Promise<boolean> {
  if (reader.header.createdAt !== header.createdAt) return false
  if (last === undefined) return true
  // A writer cuts a batch that it could not acknowledge, and writes it again: then there is nothing to compare yet.
  if (reader.tail.nextSeq <= last.seq) return true
  return headReceipt(await eventAt(reader, settings.upgrades, last.seq)).crc === headReceipt(last).crc
}
