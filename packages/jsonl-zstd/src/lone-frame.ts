/** Frames that are read without trusting their records, for `repair`: what they hold is proven by their content checksums. */
import type { ScanOptions, ScanResult, Window } from '@session-persistence/file-log'
import { COMMIT_BYTES, type Commit } from './commit-record.ts'
import { placedCommit } from './commit-search.ts'
import { CONTENT_BYTES_MAX } from './frame-unit.ts'
import { walkFrame } from './frame-walk.ts'
import { contentOf, type FrameContent, readLines } from './line-reader.ts'
import { mendedFrames } from './mended-frame.ts'
import type { ZstdCodec } from './zstd-codec.ts'
import { checkFrameBounds } from './zstd-frame.ts'

export interface DecodedContent extends FrameContent {
  readonly contentBytes: number
}

/** Whether a record says of its frame what that holds. */
export function isOf(commit: Commit, { firstSeq, events, lastTime, contentBytes }: DecodedContent): boolean {
  const isSameEnd = commit.lastTime === lastTime && commit.contentBytes === contentBytes
  return commit.firstSeq === firstSeq && commit.events === events && isSameEnd
}

/** What a frame without a valid record holds; undefined when its content checksum or its lines do not hold. */
export async function frameContent(
  codec: ZstdCodec,
  bytes: Buffer,
  start: number,
  end: number,
): Promise<DecodedContent | undefined> {
  const content = await loneContent(codec, bytes, start, end)
  const found = content === undefined ? undefined : contentOf(content)
  return content === undefined || found === undefined ? undefined : { ...found, contentBytes: content.length }
}

async function loneContent(codec: ZstdCodec, bytes: Buffer, start: number, end: number): Promise<Buffer | undefined> {
  const walk = walkFrame(bytes, start, end)
  if (walk.kind !== 'frame' || !walk.header.checksum) return undefined
  try {
    const length = checkFrameBounds(walk, CONTENT_BYTES_MAX, start)
    const content = await codec.decompress(bytes.subarray(start, walk.end), length)
    return content.length === length ? content : undefined
  } catch {
    return undefined
  }
}

/** What the frame of a unit, `bytes`, holds once the one byte of it that is wrong is put right; its record must be its own. */
export async function mendedContent(codec: ZstdCodec, bytes: Buffer, commit: Commit): Promise<Buffer | undefined> {
  for (const frame of mendedFrames(bytes.subarray(0, commit.frameBytes), commit)) {
    const content = await loneContent(codec, frame, 0, frame.length)
    const found = content === undefined ? undefined : contentOf(content)
    if (content === undefined || found === undefined) continue
    if (isOf(commit, { ...found, contentBytes: content.length })) return content
  }
  return undefined
}

/** The records of one salvaged frame without a valid record, or with one wrong byte, for the reader of `repair`. */
export async function scanLoneFrame(
  codec: ZstdCodec,
  salt: number,
  { bytes, offset }: Window,
  options: ScanOptions,
): Promise<ScanResult> {
  const unknown = { nextSeq: undefined, batchSeq: undefined }
  const placed = placedCommit({ bytes, offset }, offset + bytes.length - COMMIT_BYTES, salt)
  const own = placed?.frame === offset ? placed.commit : undefined
  const content =
    (await loneContent(codec, bytes, 0, bytes.length)) ?? (own && (await mendedContent(codec, bytes, own)))
  const found = content === undefined ? undefined : contentOf(content)
  if (content === undefined || found === undefined) {
    // Without a record at their end these bytes may be the first ones of a longer unit.
    const damage = own === undefined ? {} : { damage: { offset, message: 'a batch is damaged' } }
    return { records: [], end: offset, position: unknown, ...damage }
  }
  const records: ScanResult['records'] = []
  readLines(content, found, options, records)
  const nextSeq = found.firstSeq + found.events
  return { records, end: offset + bytes.length, position: { nextSeq, batchSeq: nextSeq } }
}
