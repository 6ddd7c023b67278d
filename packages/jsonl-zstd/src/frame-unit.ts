/** A unit: a frame and the commit record that makes it count. */
import { crc32 } from 'node:zlib'
import type { AnySessionEvent } from '@session-persistence/core'
import { LIMITS, SessionError } from '@session-persistence/core'
import {
  COMMIT_BYTES,
  COMMIT_EVENTS_MAX,
  type Commit,
  readCommit,
  readMovedCommit,
  writeCommit,
} from './commit-record.ts'
import { BLOCK_HEADER_BYTES, FRAME_HEADER_BYTES_MAX, walkFrame } from './frame-walk.ts'
import type { ZstdCodec } from './zstd-codec.ts'
import { checkFrameBounds, encodeFrame } from './zstd-frame.ts'

/** An escaped U+2028 takes six bytes in place of three; the rest is line ends. */
export const CONTENT_BYTES_MAX: number = 2 * LIMITS.batchBytes + 1024 * 1024
/** Incompressible content is stored in raw blocks; the slack covers encoders that use smaller ones. */
export const UNIT_BYTES_MAX: number =
  CONTENT_BYTES_MAX + (CONTENT_BYTES_MAX >>> 12) * BLOCK_HEADER_BYTES + FRAME_HEADER_BYTES_MAX + COMMIT_BYTES + 1024

export interface FrameUnit {
  readonly commit: Commit
  /** Index of the first byte. */
  readonly start: number
  /** Index behind the frame. */
  readonly frameEnd: number
  /** Index behind the commit record. */
  readonly end: number
}

/** `incomplete`: the bytes at hand end inside it. A string says what is wrong. */
export type FoundUnit = FrameUnit | 'incomplete' | DamagedUnit

export interface DamagedUnit {
  readonly damage: string
  /** Index behind the frame, where that is sound in form. */
  readonly frameEnd?: number
  /** First seq, where the unit is one of this file and stands in the wrong place. */
  readonly found?: number
}

/**
 * The unit at `bytes[start]`, which stands at `offset + start` in the file: its record is the one that was written for
 * this frame at this place, and the frame's bytes have their checksum. The content is not decoded, but its declared
 * size is checked, so that decoding it needs no more memory than that.
 */
export function readUnit(bytes: Buffer, start: number, offset: number, salt: number): FoundUnit {
  const walk = walkFrame(bytes, start)
  if (walk.kind === 'incomplete') return 'incomplete'
  if (walk.kind !== 'frame') return { damage: walk.kind === 'invalid' ? walk.why : 'a skippable frame stands there' }
  const frameEnd = walk.end
  const end = frameEnd + COMMIT_BYTES
  if (end > bytes.length) return 'incomplete'
  const commit = readCommit(bytes, frameEnd, salt, offset + frameEnd)
  if (commit === undefined) {
    const moved = readMovedCommit(bytes, frameEnd, salt, offset + frameEnd)
    if (moved === undefined) return { damage: 'its commit record is damaged', frameEnd }
    return { damage: 'it belongs at another place of the file', frameEnd, found: moved.firstSeq }
  }
  if (commit.frameBytes !== frameEnd - start || commit.events === 0)
    return { damage: 'its commit record is of another frame', frameEnd }
  if (crc32(bytes.subarray(start, frameEnd)) !== commit.frameCrc) {
    return { damage: 'its checksum does not match', frameEnd }
  }
  if (!walk.header.checksum) return { damage: 'it has no content checksum' }
  try {
    if (checkFrameBounds(walk, CONTENT_BYTES_MAX, offset + start) === commit.contentBytes) {
      return { commit, start, frameEnd, end }
    }
  } catch (error) {
    if (!(error instanceof SessionError)) throw error
    return { damage: error.message }
  }
  return { damage: 'its commit record declares another size' }
}

/** The unit of one batch, or of one merged frame, to be written at `offset`. TOO_LARGE past what a reader accepts. */
export async function encodeUnit(
  codec: ZstdCodec,
  content: Buffer,
  { kind, firstSeq, events, lastTime }: Pick<Commit, 'kind' | 'firstSeq' | 'events' | 'lastTime'>,
  salt: number,
  offset: number,
): Promise<Buffer> {
  if (content.length > CONTENT_BYTES_MAX || events > COMMIT_EVENTS_MAX) {
    throw new SessionError('TOO_LARGE', `a batch exceeds ${CONTENT_BYTES_MAX} bytes or ${COMMIT_EVENTS_MAX} events`, {
      expected: CONTENT_BYTES_MAX,
      found: content.length,
    })
  }
  const unit = await encodeFrame(codec, content, COMMIT_BYTES)
  const frame = unit.subarray(0, unit.length - COMMIT_BYTES)
  const commit: Commit = {
    kind,
    firstSeq,
    events,
    lastTime,
    frameBytes: frame.length,
    contentBytes: content.length,
    frameCrc: crc32(frame),
  }
  writeCommit(unit, frame.length, commit, salt, offset + frame.length)
  return unit
}

/** INVARIANT when the events are not contiguous. */
export function requireContiguous(events: readonly AnySessionEvent[]): void {
  const first = events[0]?.seq ?? 0
  events.forEach((event, index) => {
    if (event.seq === first + index) return
    throw new SessionError('INVARIANT', 'the events of a batch are not contiguous', {
      expected: first + index,
      found: event.seq,
    })
  })
}
