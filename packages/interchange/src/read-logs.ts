import { detectFormat, logReaders } from './detect.ts'
import type { ImportedLog, LogReader, ReadLogsOptions } from './reader.ts'
import { LogFile } from './source/log-file.ts'
import type { Unpacker } from './source/unpacker.ts'

export interface ReadLogsFromPathOptions extends ReadLogsOptions {
  /** `dsh`, `claude-code` or `canonical`; default: told by the file's first bytes. */
  readonly format?: string
  /** Readers to choose from; default all of this package. */
  readonly readers?: readonly LogReader[]
  /** For files that are compressed; default none. Logs that are not read in order (`claude-code`) are NOT_SUPPORTED then. */
  readonly unpackers?: readonly Unpacker[]
}

/**
 * The sessions in a file of any known format, parents before children. NOT_FOUND, PERMISSION_DENIED and IO for what the
 * operating system says; INVALID_ARGUMENT for a path that is no regular file and a file that is no log; NOT_SUPPORTED for
 * a log of another program; CORRUPT and TOO_LARGE for a compressed file that
 * is damaged, cut or a bomb; CORRUPT and UNSUPPORTED_VERSION for a canonical export that is damaged or newer; CONFLICT
 * when the file changes while it is read.
 */
export async function* readLogs(
  path: string,
  options: ReadLogsFromPathOptions = {},
): AsyncGenerator<ImportedLog, void, undefined> {
  const { format, readers = logReaders, unpackers = [], ...rest } = options
  const file = await (await LogFile.at(path)).unpacked(unpackers, rest.signal)
  const named = readers.find((reader) => reader.name === format)
  const reader = named ?? (await detectFormat(file, readers))
  yield* reader.read(file, rest)
}
