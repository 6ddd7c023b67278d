/** Everything that a reader gives of one session. */
import { type AnySessionEvent, isElided, isSessionError, type SessionStorage } from '@session-persistence/core'

/** Undefined when there is no such session. Any other refusal is thrown. */
export async function readSession(
  storage: SessionStorage,
  id: string,
): Promise<readonly AnySessionEvent[] | undefined> {
  let reader: Awaited<ReturnType<SessionStorage['openReader']>>
  try {
    reader = await storage.openReader(id)
  } catch (error) {
    if (isSessionError(error, 'NOT_FOUND')) return undefined
    throw error
  }
  try {
    const events: AnySessionEvent[] = []
    for await (const page of reader.read({})) for (const record of page) if (!isElided(record)) events.push(record)
    return events
  } finally {
    await reader.close()
  }
}
