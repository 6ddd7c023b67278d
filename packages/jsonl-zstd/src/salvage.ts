/** Finds everything that can be proven in damaged bytes, for `repair`. */
import { crc32 } from 'node:zlib'
import type {
  SalvagedUnit,
  SalvagePlace,
  ScanOptions,
  ScanResult,
  UnitEnd,
  Window,
} from '@session-persistence/file-log'
import { COMMIT_BYTES, type Commit, readForeignCommit, readMovedCommit } from './commit-record.ts'
import { findUnitByCommit, firstCommit, placedCommit } from './commit-search.ts'
import {
  CONTENT_BYTES_MAX,
  type DamagedUnit,
  type FoundUnit,
  type FrameUnit,
  readUnit,
  UNIT_BYTES_MAX,
} from './frame-unit.ts'
import { FRAME_MAGIC, walkFrame } from './frame-walk.ts'
import { contentOf, type FrameContent, readLines } from './line-reader.ts'
import { mendedFrames } from './mended-frame.ts'
import type { ZstdCodec } from './zstd-codec.ts'
import { checkFrameBounds } from './zstd-frame.ts'

const MAGIC = Buffer.alloc(4)
MAGIC.writeUInt32LE(FRAME_MAGIC)
/** Magic numbers tried in one window: bytes that hold little else must not keep `repair` busy. */
const TRIES_MAX = 10_000

/**
 * Every unit of the window that can be proven, its content included: a record alone proves its frame, and not that it is the
 * frame's. Besides whole units:
 *
 * - a frame whose record is damaged or missing, when its content checksum holds and its events continue those of the
 *   unit before it, or of the header, or are continued by those of the unit behind it;
 * - a unit that stands at another offset than its record says, when that record describes exactly this frame and could
 *   have stood in this file;
 * - a frame of which one byte is wrong, when its record and its content checksum both hold once that is put right.
 */
export async function salvageFrames(
  codec: ZstdCodec,
  salt: number,
  window: Window,
  { before, isLast }: SalvagePlace,
): Promise<{ readonly units: readonly SalvagedUnit[]; readonly consumed: number }> {
  const { bytes, offset } = window
  const places = new PlaceSearch(window, salt)
  const units: SalvagedUnit[] = []
  const frames = new FrameProof(codec, salt, window)
  let at = 0
  while (at < bytes.length) {
    const found = readUnit(bytes, at, offset, salt)
    // A larger window could not hold more of a unit.
    const isWhole = isLast || (at === 0 && bytes.length >= UNIT_BYTES_MAX)
    if (!isSound(found)) {
      // Where a unit must start one may be, with its record behind the window.
      if (!isWhole && isStart(offset + at, units.at(-1) ?? before) && !places.hasUnit(at)) break
      const mended = places.isUnit(at) ? await frames.mend(at) : undefined
      if (mended !== undefined) {
        units.push(mended)
        at = mended.end - offset
        continue
      }
    }
    if (found === 'incomplete') {
      // It may end behind the window; or its sizes are damaged, and then a record behind it is found in the window.
      if (!isWhole && !places.hasUnit(at + 1)) break
      at = places.next(at + 1) ?? bytes.length
      continue
    }
    const proof = await frames.prove(found, at, units.at(-1) ?? before, isWhole)
    if (proof === 'incomplete') break
    if (proof !== undefined) {
      units.push(proof)
      at = proof.end - offset
    } else {
      // A magic number may start in the last bytes.
      at = places.next(at + 1) ?? Math.max(at + 1, bytes.length - (MAGIC.length - 1))
    }
  }
  return { units, consumed: Math.min(at, bytes.length) }
}

function isSound(found: FoundUnit): found is FrameUnit {
  return typeof found === 'object' && 'commit' in found
}

function isStart(place: number, before: UnitEnd | undefined): boolean {
  return before?.end === place
}

/** Places in a window where a unit may start: told by a record, or by a frame's magic number. */
class PlaceSearch {
  readonly #window: Window
  readonly #salt: number
  #tries = TRIES_MAX
  /** Of the next unit that a record tells; searched once for all places before it. */
  #unit = -1

  constructor(window: Window, salt: number) {
    this.#window = window
    this.#salt = salt
  }

  /** Whether a record tells of one at or behind `from`. */
  hasUnit(from: number): boolean {
    const { offset } = this.#window
    if (this.#unit < from) {
      const unit = findUnitByCommit(this.#window, offset + from, this.#salt, 0)
      this.#unit = unit === undefined ? Number.POSITIVE_INFINITY : unit.offset - offset
    }
    return Number.isFinite(this.#unit)
  }

  /** Whether a record tells of one that starts here. */
  isUnit(at: number): boolean {
    return this.hasUnit(at) && this.#unit === at
  }

  /** The first at or behind `from`. */
  next(from: number): number | undefined {
    const { bytes } = this.#window
    this.hasUnit(from)
    const magic = this.#tries-- > 0 ? bytes.indexOf(MAGIC, from) : -1
    const place = magic === -1 ? this.#unit : Math.min(magic, this.#unit)
    return Number.isFinite(place) ? place : undefined
  }
}

/** What proves one frame of a window. */
class FrameProof {
  readonly #codec: ZstdCodec
  readonly #salt: number
  readonly #window: Window

  constructor(codec: ZstdCodec, salt: number, window: Window) {
    this.#codec = codec
    this.#salt = salt
    this.#window = window
  }

  /** The unit at `start` whose frame has one wrong byte: its record, which tells where it starts, stands behind it. */
  async mend(start: number): Promise<SalvagedUnit | undefined> {
    const { bytes, offset } = this.#window
    const placed = firstCommit(this.#window, offset + start, this.#salt)
    if (placed === undefined || placed.frame !== offset + start) return undefined
    const { commit, end } = placed
    const content = await mendedContent(this.#codec, bytes.subarray(start, end - offset), commit)
    if (content === undefined) return undefined
    const lastSeq = commit.firstSeq + commit.events - 1
    // Its bytes are not those of a unit: it is read alone.
    return { offset: placed.frame, end, firstSeq: commit.firstSeq, lastSeq, terminated: false }
  }

  /** The unit at `start`; `incomplete` where a larger window is needed to tell. */
  async prove(
    found: FrameUnit | DamagedUnit,
    start: number,
    before: UnitEnd | undefined,
    isWhole: boolean,
  ): Promise<SalvagedUnit | 'incomplete' | undefined> {
    const { bytes, offset } = this.#window
    const { frameEnd } = found
    if (frameEnd === undefined) return undefined
    const content = await frameContent(this.#codec, bytes, start, frameEnd)
    if (content === undefined) return undefined
    const { firstSeq, events } = content
    const unit = { offset: offset + start, firstSeq, lastSeq: firstSeq + events - 1 }
    if (isSound(found) && isOf(found.commit, content)) return { ...unit, end: offset + found.end, terminated: true }
    const proof = this.#proofWithoutRecord(start, frameEnd, content, before, isWhole)
    if (proof !== true) return proof === false ? undefined : proof
    // Where the record is not even there, the next frame follows at once.
    const behind = frameEnd + COMMIT_BYTES
    const isRecordThere = behind <= bytes.length && bytes.readUInt32LE(frameEnd) !== FRAME_MAGIC
    return { ...unit, end: offset + (isRecordThere ? behind : frameEnd), terminated: false }
  }

  #proofWithoutRecord(
    start: number,
    frameEnd: number,
    content: DecodedContent,
    before: UnitEnd | undefined,
    isWhole: boolean,
  ): boolean | 'incomplete' {
    const { bytes, offset } = this.#window
    const place = offset + frameEnd
    const record = { bytes, start, frameEnd, content }
    if (describes(record, readMovedCommit(bytes, frameEnd, this.#salt, place))) return true
    if (describes(record, readForeignCommit(bytes, frameEnd, this.#salt, place))) return false
    const { firstSeq, events } = content
    if (before?.end === offset + start && before.lastSeq + 1 === firstSeq) return true
    const next = readUnit(bytes, frameEnd + COMMIT_BYTES, offset, this.#salt)
    if (next === 'incomplete' && !isWhole) return next
    return typeof next === 'object' && 'commit' in next && next.commit.firstSeq === firstSeq + events
  }
}

interface DecodedContent extends FrameContent {
  readonly contentBytes: number
}

function isOf(commit: Commit, { firstSeq, events, lastTime, contentBytes }: DecodedContent): boolean {
  const isSameEnd = commit.lastTime === lastTime && commit.contentBytes === contentBytes
  return commit.firstSeq === firstSeq && commit.events === events && isSameEnd
}

/** Whether a record is that of this very frame. */
function describes(
  frame: {
    readonly bytes: Buffer
    readonly start: number
    readonly frameEnd: number
    readonly content: DecodedContent
  },
  commit: Commit | undefined,
): boolean {
  const { bytes, start, frameEnd, content } = frame
  return (
    commit !== undefined &&
    commit.frameBytes === frameEnd - start &&
    commit.frameCrc === crc32(bytes.subarray(start, frameEnd)) &&
    isOf(commit, content)
  )
}

/** What a frame without a valid record holds; undefined when its content checksum or its lines do not hold. */
async function frameContent(
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
async function mendedContent(codec: ZstdCodec, bytes: Buffer, commit: Commit): Promise<Buffer | undefined> {
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
