import { detectFormat, logReaders } from './detect.ts'
import type { ImportedLog, LogReader, ReadLogsOptions } from './reader.ts'
import { LogFile } from './source/log-file.ts'

export interface ReadLogsFromPathOptions extends ReadLogsOptions {
  /** `dsh`, `claude-code` or `canonical`; default: told by the file's first bytes. */
  readonly format?: string
  /** Readers to choose from; default all of this package. */
  readonly readers?: readonly LogReader[]
}

/**
 * The sessions in a file of any known format, parents before children. NOT_FOUND, PERMISSION_DENIED and IO for what the
 * operating system says; INVALID_ARGUMENT for a path that is no regular file and a file that is no log; NOT_SUPPORTED for
 * a log of another program; CORRUPT and UNSUPPORTED_VERSION for a canonical export that is damaged or newer; CONFLICT
 * when the file changes while it is read.
 */
export async function* readLogs(
  path: string,
  options: ReadLogsFromPathOptions = {},
): AsyncGenerator<ImportedLog, void, undefined> {
  const { format, readers = logReaders, ...rest } = options
  const file = await LogFile.at(path)
  const named = readers.find((reader) => reader.name === format)
  const reader = named ?? (await detectFormat(file, readers))
  yield* reader.read(file, rest)
}
