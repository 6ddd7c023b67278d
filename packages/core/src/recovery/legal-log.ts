/** Whether the events of a log may follow each other, as a resume and a verification judge it, whatever its bytes prove. */
import { isSessionError } from '../errors.ts'
import { FORMAT_VERSION } from '../event/format-version.ts'
import { LogFold } from '../projection/log-fold.ts'
import { isElided, type StorageReader } from '../storage/session-storage.ts'
import { withReader } from '../storage/with-reader.ts'

/**
 * False where the grammar refuses an event: a repair has something to do then, although every record is whole. A log of
 * another format version is not judged, since its events are not those that a resume folds. Rejects as opening and reading do.
 */
export function isLegalLog(opening: Promise<StorageReader>, signal: AbortSignal | undefined): Promise<boolean> {
  return withReader(opening, (reader) => isLegal(reader, signal))
}

async function isLegal(reader: StorageReader, signal: AbortSignal | undefined): Promise<boolean> {
  if (reader.header.version !== FORMAT_VERSION) return true
  const fold = new LogFold()
  try {
    for await (const page of reader.read(signal === undefined ? {} : { signal })) {
      signal?.throwIfAborted()
      for (const record of page) {
        if (isElided(record)) fold.acceptElided(record)
        else fold.accept(record)
      }
    }
  } catch (error) {
    if (isSessionError(error, 'INVALID_EVENT')) return false
    throw error
  }
  return true
}
