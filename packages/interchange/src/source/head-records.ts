import { decodeLine, type SourceRecord } from './decode-line.ts'
import { LineSplitter } from './split-lines.ts'

/** How many lines of a head are looked at to tell the format. */
const HEAD_LINES_MAX = 64

/** The records on the complete lines of a file's first bytes; a line that the bytes end in counts if it is one. */
export function headRecords(head: Buffer): SourceRecord[] {
  const splitter = new LineSplitter()
  const lines = [...splitter.push(head), ...splitter.end()]
  return lines.slice(0, HEAD_LINES_MAX).flatMap((line) => decodeLine(line, () => false).records)
}
