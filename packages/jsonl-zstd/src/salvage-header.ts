/** The header of a log of which the header unit is damaged, for `repair`. Pure over bytes. */
import { crc32 } from 'node:zlib'
import { isSessionError, leftHeader, type SessionHeader, type StorageRepairOptions } from '@session-persistence/core'
import type { SalvagedHeader } from '@session-persistence/file-log'
import { COMMIT_BYTES, COMMIT_START, type Commit, readCommit, saltOf } from './commit-record.ts'
import { contentChecksum } from './content-checksum.ts'
import { CHECKSUM_BYTES, FRAME_MAGIC, walkFrame } from './frame-walk.ts'
import { decodeHeaderText } from './header-unit.ts'
import { mendedFrames } from './mended-frame.ts'
import { readRawFrame } from './zstd-frame.ts'

/** Records that agree on a salt prove each other: the chance of two damaged ones agreeing is one in four billion. */
const AGREEING_RECORDS = 2

export interface SalvagedHeaderUnit extends Pick<SalvagedHeader, 'doubts'> {
  readonly header: SessionHeader
  readonly salt: number
  /** Offset behind the unit; 0 where it cannot be told. */
  readonly end: number
}

/**
 * The header is proven by either of its sums: the record's, with one byte of the frame put right if need be, or the content checksum.
 * Otherwise its fields are what is left of the line, and the salt what most tells for: each record fits one salt only. Undefined
 * where there is neither a salt nor a line. UNSUPPORTED_VERSION for a proven header of a newer version.
 */
export async function salvageHeaderUnit(
  prefix: Buffer,
  id: string,
  messageFormats: StorageRepairOptions['messageFormats'],
): Promise<SalvagedHeaderUnit | undefined> {
  const record = headerRecord(prefix)
  const frames = record === undefined ? [prefix] : framesOf(prefix, record)
  for (const frame of frames) {
    const proven = await provenHeader(frame, id)
    if (proven !== undefined) return { ...proven, end: endOf(prefix, proven.end), doubts: [] }
  }
  const walk = walkFrame(prefix, 0)
  const line = walk.kind === 'frame' ? readRawFrame(prefix, walk) : undefined
  const end = record?.frameBytes ?? (line !== undefined && walk.kind === 'frame' ? walk.end : undefined)
  // Blocks are raw: the text is there, whatever became of what stands around it.
  const text = (line ?? prefix.subarray(0, end ?? prefix.indexOf(COMMIT_START))).toString('utf8')
  const salt = saltOfRecords(prefix, /"salt":"([0-9a-f]{8})"\}/.exec(text)?.[1])
  if (salt === undefined) return undefined
  const proven = record === undefined ? {} : { createdAt: record.lastTime }
  const { header, doubts } = leftHeader(text, id, messageFormats, proven)
  return { header, salt, end: end === undefined ? 0 : endOf(prefix, end), doubts }
}

/** The header's own record, wherever it is: it has no events, and its frame starts the file. */
function headerRecord(prefix: Buffer): Commit | undefined {
  for (let at = prefix.indexOf(COMMIT_START); at !== -1; at = prefix.indexOf(COMMIT_START, at + 1)) {
    const commit = readCommit(prefix, at, 0, at)
    if (commit?.events === 0 && commit.frameBytes === at) return commit
  }
  return undefined
}

/** The frame as it is, and as it was if one byte of it is wrong. */
function framesOf(prefix: Buffer, { frameBytes, frameCrc }: Commit): readonly Buffer[] {
  const frame = prefix.subarray(0, frameBytes)
  return [frame, ...mendedFrames(frame, { frameCrc })]
}

/** The header of a frame whose content checksum holds; `end` is that of the frame. */
async function provenHeader(
  bytes: Buffer,
  id: string,
): Promise<{ readonly header: SessionHeader; readonly salt: number; readonly end: number } | undefined> {
  const walk = walkFrame(bytes, 0)
  if (walk.kind !== 'frame' || !walk.header.checksum) return undefined
  const line = readRawFrame(bytes, walk)
  if (line === undefined || (await contentChecksum(line)) !== bytes.readUInt32LE(walk.end - CHECKSUM_BYTES))
    return undefined
  try {
    const { header, salt } = decodeHeaderText(line)
    return header.id === id ? { header, salt, end: walk.end } : undefined
  } catch (error) {
    if (isSessionError(error, 'CORRUPT')) return undefined
    throw error
  }
}

/** Behind the unit whose frame ends here; its record may be missing altogether, and then the next frame follows at once. */
function endOf(prefix: Buffer, frameEnd: number): number {
  const isMissing = frameEnd + 4 <= prefix.length && prefix.readUInt32LE(frameEnd) === FRAME_MAGIC
  return isMissing ? frameEnd : frameEnd + COMMIT_BYTES
}

/**
 * The salt that several records have, or that a record has which describes the frame before it; otherwise that of the header line, or of
 * any record. Of a frame that stands directly behind the header no salt is needed to prove it.
 */
function saltOfRecords(bytes: Buffer, inLine: string | undefined): number | undefined {
  const ofLine = inLine === undefined ? undefined : Number.parseInt(inLine, 16)
  const votes = new Map<number, number>()
  let described: number | undefined
  for (let at = bytes.indexOf(COMMIT_START); at !== -1; at = bytes.indexOf(COMMIT_START, at + 1)) {
    const salt = saltOf(bytes, at, at)
    // The header's own record has none.
    if (salt === undefined || readCommit(bytes, at, 0, at)?.events === 0) continue
    const count = (votes.get(salt) ?? (salt === ofLine ? 1 : 0)) + 1
    if (count >= AGREEING_RECORDS) return salt
    votes.set(salt, count)
    if (described === undefined && describesFrame(bytes, at, salt)) described = salt
  }
  return described ?? ofLine ?? votes.keys().next().value
}

function describesFrame(bytes: Buffer, at: number, salt: number): boolean {
  const commit = readCommit(bytes, at, salt, at)
  if (commit === undefined || commit.events === 0 || commit.frameBytes > at) return false
  return crc32(bytes.subarray(at - commit.frameBytes, at)) === commit.frameCrc
}
