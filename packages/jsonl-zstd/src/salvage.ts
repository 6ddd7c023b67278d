/** Finds everything that can be proven in damaged bytes, for `repair`. */
import { crc32 } from 'node:zlib'
import type { SalvagedUnit, SalvagePlace, UnitEnd, Window } from '@session-persistence/file-log'
import { COMMIT_BYTES, type Commit, readForeignCommit, readMovedCommit } from './commit-record.ts'
import { findUnitByCommit, firstCommit } from './commit-search.ts'
import { type DamagedUnit, type FoundUnit, type FrameUnit, readUnit, UNIT_BYTES_MAX } from './frame-unit.ts'
import { FRAME_MAGIC } from './frame-walk.ts'
import { type DecodedContent, frameContent, isOf, mendedContent } from './lone-frame.ts'
import type { ZstdCodec } from './zstd-codec.ts'

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
