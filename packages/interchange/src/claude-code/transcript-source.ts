import { type DecodedLine, decodeLine, type SourceRecord } from '../source/decode-line.ts'
import type { FilePass, LogFile } from '../source/log-file.ts'
import type { SourceLine } from '../source/split-lines.ts'
import type { IndexEntry } from './transcript-index.ts'
import { isWholeRecord } from './transcript-line.ts'

export interface LoadedEntry {
  readonly entry: IndexEntry
  readonly line: SourceLine
  readonly decoded: DecodedLine
  /** Undefined for a line that holds no record. */
  readonly record: SourceRecord | undefined
}

/** Reads the records of an index again, mostly forward. */
export class TranscriptSource {
  readonly #pass: FilePass
  readonly #size: number
  #last: Omit<LoadedEntry, 'entry' | 'record'> | undefined

  constructor(pass: FilePass, file: LogFile) {
    this.#pass = pass
    this.#size = file.size
  }

  async load(entry: IndexEntry): Promise<LoadedEntry> {
    if (this.#last?.line.offset !== entry.offset) {
      const { line: number, offset, terminated, piece } = entry
      const bytes = await this.#pass.readNear(offset, entry.bytes, this.#size)
      const line: SourceLine = { number, offset, bytes, terminated, ...(piece !== undefined && { piece }) }
      this.#last = { line, decoded: decodeLine(line, isWholeRecord) }
    }
    const { line, decoded } = this.#last
    return { entry, line, decoded, record: decoded.records[entry.nth] }
  }
}
