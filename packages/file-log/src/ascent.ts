/**
 * Finds a stretch of whole batches that stands twice at the end of a log (a copy that was resumed, a file that was
 * appended to itself): the last batch then continues the one before it, and only a read of everything would show the
 * step back in between. Seqs grow with offsets, so a unit further from the end must hold earlier seqs.
 */
import { SessionError } from '@session-persistence/core'
import type { LogCodec, UnitSpan } from './log-codec.ts'
import type { LogSnapshot } from './log-snapshot.ts'
import { PassingBytes, readBytes } from './read-bytes.ts'
import { probe } from './seek.ts'

/** The first probes lie close together: one read serves them all. */
const NEAR_BYTES = 16 * 1024

/**
 * CORRUPT when the end of the log, however long, is a copy of what stands before it. Each probe is twice as far from the
 * end as the unit that the last one found: if that unit lies in the copy, the original of it is at most that far away.
 */
export async function requireAscent({ file, path, dialect, tail }: LogSnapshot, codec: LogCodec): Promise<void> {
  const { lastBatch, end } = tail
  // Where a copy is no unit, the search for the tail has refused it already.
  if (lastBatch === undefined || codec.provesPlace === true) return
  const nearStart = Math.max(dialect.dataStart, end - NEAR_BYTES)
  const near = await readBytes(file, path, nearStart, end - nearStart)
  const passing = new PassingBytes(file, path)
  let later: Pick<UnitSpan, 'offset' | 'firstSeq'> = lastBatch
  for (let distance = end - lastBatch.offset; end - distance > dialect.dataStart; ) {
    distance *= 2
    const from = Math.max(dialect.dataStart, end - distance)
    const unit =
      from < nearStart
        ? await probe(passing, codec, dialect, from, end)
        : dialect.findUnit({ bytes: near, offset: nearStart }, from)
    if (unit === undefined || unit.offset >= later.offset) continue
    if (unit.firstSeq >= later.firstSeq) throw repeated(path, unit, later)
    distance = end - unit.offset
    later = unit
  }
}

function repeated(
  path: string,
  { offset, firstSeq }: Pick<UnitSpan, 'offset' | 'firstSeq'>,
  later: Pick<UnitSpan, 'offset' | 'firstSeq'>,
): SessionError {
  const message = `records stand twice: seq ${firstSeq} at offset ${offset} is followed by seq ${later.firstSeq}`
  return new SessionError('CORRUPT', message, {
    path,
    offset: later.offset,
    seq: later.firstSeq,
    found: later.firstSeq,
  })
}
