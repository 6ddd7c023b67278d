/** Stored events, then what writers of any process write, until the session is deleted. */
import { isSessionError, SessionError, withSessionId } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import type { SessionHeader } from '../event/header.ts'
import { eventPages } from '../session/read-events.ts'
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
  if (!Number.isSafeInteger(next) || next < 0) {
    throw new SessionError('INVALID_ARGUMENT', 'from must be a seq: an integer from 0', { sessionId: id })
  }
  let first: SessionHeader | undefined
  for (;;) {
    signal?.throwIfAborted()
    const reader = await reopen(storage, id, first)
    if (reader === undefined) return
    try {
      first ??= reader.header
      if (reader.tail.nextSeq > next) {
        const range = { from: next, ...(signal === undefined ? {} : { signal }) }
        for await (const page of eventPages(reader, settings.upgrades, range)) {
          for (const event of page) {
            signal?.throwIfAborted()
            next = event.seq + 1
            yield event
          }
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

/** Undefined when the session that was being followed is gone, also when another one took its id. */
async function reopen(
  storage: SessionStorage,
  id: string,
  first: SessionHeader | undefined,
): Promise<StorageReader | undefined> {
  try {
    const reader = await storage.openReader(id)
    if (first === undefined || reader.header.createdAt === first.createdAt) return reader
    await reader.close()
    return undefined
  } catch (error) {
    if (first !== undefined && isSessionError(error, 'NOT_FOUND')) return undefined
    throw error
  }
}
