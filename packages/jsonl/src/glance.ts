/** The newest event of a log from its first and last bytes, for listing ten thousand of them. */
import { viewOf } from './crc.ts'
import { glanceHeaderLine } from './header-line.ts'
import { LF } from './line.ts'
import { verifyLine } from './line-scan.ts'

/**
 * Undefined unless the header is sound and of this id and version, and the last line is complete, verified, the end of
 * a batch, and wholly in `tail`.
 */
export function glanceLog(
  head: Buffer,
  tail: Buffer,
  id: string,
): { readonly events: number; readonly updatedAt: number } | undefined {
  const view = viewOf(head)
  const header = glanceHeaderLine(head, view, id)
  if (header === undefined || tail.at(-1) !== LF) return undefined
  const end = tail.length - 1
  const start = tail.lastIndexOf(LF, end - 1) + 1
  // Without a line end before it the line may have started earlier; and the header is no event.
  if (start === 0 || (head === tail && start < header.end)) return undefined
  const unit = verifyLine(header.format, tail, start, end, head === tail ? view : viewOf(tail))
  if (unit === undefined || unit.batch === -1) return undefined
  return { events: unit.lastSeq + 1, updatedAt: unit.lastTime }
}
