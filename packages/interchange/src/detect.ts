import { SessionError } from '@session-persistence/core'
import { canonicalReader } from './canonical/canonical-reader.ts'
import { claudeCodeReader } from './claude-code/claude-code-reader.ts'
import { dshReader } from './dsh/dsh-reader.ts'
import { foreignFormat } from './foreign-formats.ts'
import type { LogReader } from './reader.ts'
import type { LogFile } from './source/log-file.ts'

/** Every reader of this package. */
export const logReaders: readonly LogReader[] = Object.freeze([canonicalReader, dshReader, claudeCodeReader])

/** Bytes of a file that are looked at. A first line may be longer; readers then go by how it begins. */
const HEAD_BYTES = 256 * 1024

/**
 * The reader for a file, by its first bytes alone. INVALID_ARGUMENT for an empty file and for what is no log at all;
 * NOT_SUPPORTED for a log of a program that no reader is for. The message names what was seen, never content.
 */
export async function detectFormat(file: LogFile, readers: readonly LogReader[] = logReaders): Promise<LogReader> {
  const { path } = file
  const head = await file.head(HEAD_BYTES)
  if (head.length === 0) throw new SessionError('INVALID_ARGUMENT', `${path} is empty`, { path })
  const ranked = readers.map((reader) => ({ reader, score: reader.detect(head) })).sort((a, b) => b.score - a.score)
  const [best] = ranked
  if (best !== undefined && best.score > 0) return best.reader
  const { code, what } = foreignFormat(head)
  const names = readers.map((reader) => reader.name).join(', ')
  throw new SessionError(code, `${path} is ${what}; formats that can be read: ${names}`, { path })
}
