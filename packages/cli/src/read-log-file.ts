import { type ImportedLog, readLogs } from '@session-persistence/interchange'
import type { Progress } from './terminal/progress.ts'
import { byteSize } from './terminal/quantity.ts'
import { zstdFiles } from './zstd-files.ts'

/** The sessions in a log file of any known format, with progress for long ones. */
export function readLogFile(path: string, progress: Progress, signal: AbortSignal): AsyncIterable<ImportedLog> {
  return readLogs(path, {
    signal,
    unpackers: [zstdFiles],
    onProgress: (bytes, total) => progress.show(() => `reading ${byteSize(bytes)} of ${byteSize(total)} …`),
  })
}
