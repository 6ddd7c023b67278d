import type { AnySessionEvent, LogSource } from '@session-persistence/core'
import type { ImportReport } from './report/import-report.ts'
import type { LogFile } from './source/log-file.ts'

/** What {@link LogReader.read} takes beside the file. */
export interface ReadLogsOptions {
  readonly signal?: AbortSignal
  /**
   * Put the hash of the source's content behind every id, also where the source's own id would do. Used when an id is
   * taken by other content.
   */
  readonly hashedIds?: boolean
  /** Hears about passes over long files: bytes read of `total`. */
  readonly onProgress?: (bytes: number, total: number) => void
}

/**
 * One session found in a source file, ready for `SessionPersistence.importLog`. `events` may be iterated more than once:
 * each iteration reads the file again and gives equal events. CONFLICT when the file changed in between.
 */
export interface ImportedLog extends LogSource {
  readonly events: AsyncIterable<readonly AnySessionEvent[]>
  /** Complete when the log is yielded: a first pass has read everything. */
  readonly report: ImportReport
}

/**
 * A reader of one source format. Readers hold no more than a page of events and, where the format is a tree, an index
 * of it; a message is decoded when it is its turn. Nothing is dropped silently: what has no place in the core
 * vocabulary becomes an ignorable event, and bytes that are no record become `interchange/damaged`.
 */
export interface LogReader {
  /** `dsh`, `claude-code`, `canonical`. */
  readonly name: string
  /** How sure this reader is, 0 to 1, that a file that begins with `head` is of its format. */
  detect(head: Buffer): number
  /** The logs in a file, parents before children. */
  read(file: LogFile, options?: ReadLogsOptions): AsyncIterable<ImportedLog>
}
