import type { LogFile } from './log-file.ts'
import { LineSplitter, type SourceLine } from './split-lines.ts'

/** The lines of a file, in groups as they come from the disk. */
export async function* readLines(
  file: LogFile,
  options: {
    readonly signal?: AbortSignal | undefined
    readonly onProgress?: ((bytes: number, total: number) => void) | undefined
  } = {},
): AsyncGenerator<readonly SourceLine[], void, undefined> {
  const splitter = new LineSplitter()
  let bytes = 0
  for await (const chunk of file.chunks(options.signal)) {
    yield splitter.push(chunk)
    bytes += chunk.length
    options.onProgress?.(bytes, file.size)
  }
  yield splitter.end()
}
