import {
  encodeSessionName,
  ensurePrivateDirectory,
  ioError,
  nodeFileSystem,
  RootDirectory,
  WriterLock,
} from '@session-persistence/file-log'
import type { DatabaseFile } from './database-file.ts'

/**
 * The writer lock of a session, in `<database>.locks/`: the operating system's, so that it dies with its holder. Makes
 * the directories where they are missing. LOCKED, naming the owner, when another writer holds it.
 */
export async function lockSession(file: DatabaseFile, id: string): Promise<WriterLock> {
  try {
    await new RootDirectory(nodeFileSystem, file.directory, true).ensure()
    await ensurePrivateDirectory(nodeFileSystem, file.locks)
  } catch (error) {
    throw ioError(error, 'make the lock directory', file.locks, { sessionId: id })
  }
  return await WriterLock.acquire(nodeFileSystem, file.locks, encodeSessionName(id), id)
}
