/** The newest event of a log from its first and last bytes, for listing ten thousand of them. */
import { crc32 } from 'node:zlib'
import { BytePattern } from './byte-pattern.ts'
import { wholeViewOf } from './crc.ts'
import { glanceHeaderLine, hex } from './header-line.ts'
import { LF, type LineFormat, splitLine } from './line.ts'
import { glanceLine, type LineUnit } from './line-unit.ts'

const SEQ = new BytePattern('{"seq":')
/** Both separators that are escaped on disk start so. */
const SEPARATOR_ESCAPE = '\\u202'
const RUN = ',"run":{'
const CLOSE = '}'
const COMMA = 0x2c
const ZERO = 0x30
/** So that the value is exact. */
const DIGITS_MAX = 15

/**
 * Undefined unless the header is sound and of this id and version, the last line is complete, verified and the end of a
 * batch that starts in `tail`, and what stands before that batch is verified and the seq before its own.
 */
export function glanceLog(
  head: Buffer,
  tail: Buffer,
  id: string,
  size: number,
): { readonly events: number; readonly updatedAt: number } | undefined {
  const view = wholeViewOf(head)
  const header = glanceHeaderLine(head, view, id)
  if (header === undefined || tail[tail.length - 1] !== LF) return undefined
  const tailView = head === tail ? view : wholeViewOf(tail)
  const dataStart = header.end - (size - tail.length)
  // Without a line end before it a line may have started earlier; and the header is no event.
  const first = Math.max(1, dataStart)
  const end = tail.length - 1
  const start = lineStart(tail, end)
  if (start < first) return undefined
  const unit = glanceLine(header.format, tail, start, end, tailView)
  if (unit === undefined || unit.batch === -1) return undefined
  const batchStart = findBatch(tail, tailView, start, first, unit)
  if (batchStart === undefined) return undefined
  const found = { events: unit.lastSeq + 1, updatedAt: unit.lastTime }
  if (batchStart === dataStart) return unit.batch === 0 ? found : undefined
  const beforeStart = lineStart(tail, batchStart - 1)
  if (beforeStart < first) return undefined
  const before = glanceLine(header.format, tail, beforeStart, batchStart - 1, tailView)
  return before !== undefined && before.batch !== -1 && before.lastSeq + 1 === unit.batch ? found : undefined
}

/**
 * See `LogDialect.receiptCrc`: the record of a line is the canonical JSON that the receipt is made of, unless it is a
 * packed run, or holds an escape that canonical JSON does without.
 */
export function glanceReceiptCrc(format: LineFormat, tail: Buffer): string | undefined {
  const end = tail.length - 1
  const start = lineStart(tail, end)
  const parts = { recordEnd: 0, batch: -1 }
  if (start === 0 || tail[end] !== LF || !splitLine(format, tail, start, end, parts)) return undefined
  const record = tail.subarray(start, parts.recordEnd)
  if (record.includes(SEPARATOR_ESCAPE) || record.includes(RUN)) return undefined
  return hex(crc32(CLOSE, crc32(record)))
}

function lineStart(bytes: Buffer, end: number): number {
  return end === 0 ? 0 : bytes.lastIndexOf(LF, end - 1) + 1
}

/** Where the batch that ends with the line at `last` starts; undefined when that is before `first`, or in doubt. */
function findBatch(
  bytes: Buffer,
  view: DataView,
  last: number,
  first: number,
  { firstSeq, batch }: LineUnit,
): number | undefined {
  let start = last
  // The lines between are taken at their word: a look at the batch itself would cost more than the rest of a listing.
  for (let seq = firstSeq; seq > batch; ) {
    if (start <= first) return undefined
    start = lineStart(bytes, start - 1)
    const before = start < first ? -1 : seqAt(bytes, view, start)
    if (before < batch || before >= seq) return undefined
    seq = before
  }
  return start
}

/** The seq of the line at `start`, or -1. */
function seqAt(bytes: Buffer, view: DataView, start: number): number {
  if (start + SEQ.length > bytes.length || !SEQ.isAt(view, start)) return -1
  let value = 0
  for (let at = start + SEQ.length, digits = 0; digits <= DIGITS_MAX; at++, digits++) {
    const code = bytes[at] ?? 0
    if (code === COMMA) return digits === 0 ? -1 : value
    if (code < ZERO || code > ZERO + 9) return -1
    value = value * 10 + (code - ZERO)
  }
  return -1
}
