/**
 * What a power cut may do to bytes that were never synced where a file grew: any of their 512-byte sectors may read as
 * zeros (reliability.md, media assumptions). Nothing else explains a NUL inside a log.
 */
export const SECTOR_BYTES = 512

/**
 * True when somewhere in `bytes[from, to)` the batch's share of a sector is all NUL. The batch lies at
 * `[batchStart, batchEnd)` of the file and `bytes[0]` at `offset`.
 */
export function hasZeroedSector(
  bytes: Buffer,
  from: number,
  to: number,
  offset: number,
  batchStart: number,
  batchEnd: number,
): boolean {
  let at = from
  while (at < to) {
    const start = bytes.indexOf(0, at)
    if (start === -1 || start >= to) return false
    let end = start + 1
    while (end < to && bytes[end] === 0) end++
    if (coversSector(offset + start, offset + end, batchStart, batchEnd)) return true
    at = end
  }
  return false
}

function coversSector(start: number, end: number, batchStart: number, batchEnd: number): boolean {
  const shareStart = start === batchStart ? start : Math.ceil(start / SECTOR_BYTES) * SECTOR_BYTES
  const shareEnd = Math.min((Math.floor(shareStart / SECTOR_BYTES) + 1) * SECTOR_BYTES, batchEnd)
  return shareStart < shareEnd && shareEnd <= end
}
