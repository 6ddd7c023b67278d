/** The newest event of a log from its first and last bytes, for listing ten thousand of them. */
import { crc32 } from 'node:zlib'
import { COMMIT_BYTES } from './commit-record.ts'
import { placedCommit } from './commit-search.ts'
import { glanceHeaderUnit } from './header-unit.ts'

/**
 * Undefined unless the header is sound and of this id and version, the file ends with a valid record, and what proves
 * that batch is at hand: its frame and the record before it. A frame that `seal` made needs no proof: it was synced as
 * a whole before anybody could see it.
 */
export function glanceLog(
  head: Buffer,
  tail: Buffer,
  id: string,
  size: number,
): { readonly events: number; readonly updatedAt: number } | undefined {
  const header = glanceHeaderUnit(head, id)
  if (header === undefined) return undefined
  const window = { bytes: tail, offset: size - tail.length }
  const last = placedCommit(window, size - COMMIT_BYTES, header.salt)
  if (last === undefined || last.frame < header.end) return undefined
  const { commit, frame, at } = last
  const found = { events: commit.firstSeq + commit.events, updatedAt: commit.lastTime }
  if (commit.kind === 'sealed') return found
  if (frame < window.offset) return undefined
  if (crc32(tail.subarray(frame - window.offset, at - window.offset)) !== commit.frameCrc) return undefined
  if (frame === header.end) return commit.firstSeq === 0 ? found : undefined
  const before = placedCommit(window, frame - COMMIT_BYTES, header.salt)
  if (before === undefined || before.commit.firstSeq + before.commit.events !== commit.firstSeq) return undefined
  return found
}
