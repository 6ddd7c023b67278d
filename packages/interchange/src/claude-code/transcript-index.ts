import type { ReadLogsOptions } from '../reader.ts'
import { decodeLine } from '../source/decode-line.ts'
import type { LogFile } from '../source/log-file.ts'
import { readLines } from '../source/read-lines.ts'
import type { SourceLine } from '../source/split-lines.ts'
import { isWholeRecord, type LineFacts, lineFacts } from './transcript-line.ts'

/** Where one record, or a line without one, stands in the file. */
export interface IndexEntry {
  /** Place among all entries of the file. */
  readonly position: number
  readonly line: number
  readonly offset: number
  readonly bytes: number
  readonly terminated: boolean
  readonly piece: number | undefined
  /** Which of the records on its line. */
  readonly nth: number
  /** Undefined for a line that holds no record. */
  readonly facts: LineFacts | undefined
}

/** The tree and nothing else: about 300 bytes a record, whatever its size. */
export interface TranscriptIndex {
  readonly entries: readonly IndexEntry[]
  /** The first time in the file. */
  readonly firstTime: number | undefined
}

export async function indexTranscript(file: LogFile, options: ReadLogsOptions): Promise<TranscriptIndex> {
  const entries: IndexEntry[] = []
  let firstTime: number | undefined
  for await (const lines of readLines(file, { signal: options.signal, onProgress: options.onProgress })) {
    for (const line of lines) {
      const { records } = decodeLine(line, isWholeRecord)
      const place = placeOf(line)
      if (records.length === 0) entries.push({ ...place, position: entries.length, nth: 0, facts: undefined })
      records.forEach((record, nth) => {
        const facts = lineFacts(record)
        firstTime ??= facts.time
        entries.push({ ...place, position: entries.length, nth, facts })
      })
    }
  }
  return { entries, firstTime }
}

function placeOf(line: SourceLine): Pick<IndexEntry, 'line' | 'offset' | 'bytes' | 'terminated' | 'piece'> {
  const { number, offset, bytes, terminated, piece } = line
  return { line: number, offset, bytes: bytes.length, terminated, piece }
}
