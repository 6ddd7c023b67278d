import { SessionError, type StorageRepair } from '@session-persistence/core'
import type { WriterPlace } from './log-writer.ts'

export async function repairLog(
  place: WriterPlace,
  _options: { readonly dryRun: boolean; readonly signal?: AbortSignal },
): Promise<StorageRepair> {
  throw new SessionError('NOT_SUPPORTED', 'repair is not written yet', { sessionId: place.id })
}
