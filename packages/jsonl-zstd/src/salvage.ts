/** Finds everything that can be proven in damaged bytes, for `repair`. */
import { crc32 } from 'node:zlib'
import { FORMAT_VERSION, type SessionHeader } from '@session-persistence/core'
import type { SalvagedUnit, ScanOptions, ScanResult, Window } from '@session-persistence/file-log'
import {
  COMMIT_BYTES,
  COMMIT_START,
  type Commit,
  readCommit,
  readForeignCommit,
  readMovedCommit,
  saltOf,
} from './commit-record.ts'
import { findUnitByCommit } from './commit-search.ts'
import { CONTENT_BYTES_MAX, readUnit } from './frame-unit.ts'
import { FRAME_MAGIC, walkFrame } from './frame-walk.ts'
import { contentOf, type FrameContent, readLines } from './line-reader.ts'
import type { ZstdCodec } from './zstd-codec.ts'
import { checkFrameBounds, readRawFrame } from './zstd-frame.ts'

const MAGIC = Buffer.alloc(4)
MAGIC.writeUInt32LE(FRAME_MAGIC)
/** Magic numbers tried in one window: bytes that hold little else must not keep `repair` busy. */
const TRIES_MAX = 10_000

/**
 * Every unit of the window that can be proven. Besides whole units:
 *
 * - a frame whose record is damaged or missing, when its content checksum holds and its events continue those of the
 *   unit before it, or are continued by those of the unit behind it;
 * - a unit that stands at another offset than its record says, when that record describes exactly this frame and could
 *   have stood in this file.
 */
export async function salvageFrames(
  codec: ZstdCodec,
  salt: number,
  window: Window,
): Promise<{ readonly units: readonly SalvagedUnit[]; readonly consumed: number }> {
  const { bytes, offset } = window
  const places = new PlaceSearch(window, salt)
  const units: SalvagedUnit[] = []
  let at = 0
  while (at < bytes.length) {
    const found = readUnit(bytes, at, offset, salt)
    if (found === 'incomplete') {
      // It may end behind the window; or its sizes are damaged, and then a record behind it is found in the window.
      const next = places.next(at + 1)
      if (next === undefined) break
      at = next
    } else if ('damage' in found) {
      const lone =
        found.frameEnd === undefined ? undefined : await loneFrame(codec, salt, window, at, found.frameEnd, units)
      if (lone !== undefined) {
        units.push(lone)
        at = lone.end - offset
      } else {
        // A magic number may start in the last bytes.
        at = places.next(at + 1) ?? Math.max(at + 1, bytes.length - (MAGIC.length - 1))
      }
    } else {
      const { commit, start, end } = found
      const lastSeq = commit.firstSeq + commit.events - 1
      units.push({ offset: offset + start, end: offset + end, firstSeq: commit.firstSeq, lastSeq, terminated: true })
      at = end
    }
  }
  return { units, consumed: Math.min(at, bytes.length) }
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

  /** The first at or behind `from`. */
  next(from: number): number | undefined {
    const { bytes, offset } = this.#window
    if (this.#unit < from) {
      const unit = findUnitByCommit(this.#window, offset + from, this.#salt, 0)
      this.#unit = unit === undefined ? Number.POSITIVE_INFINITY : unit.offset - offset
    }
    const magic = this.#tries-- > 0 ? bytes.indexOf(MAGIC, from) : -1
    const place = magic === -1 ? this.#unit : Math.min(magic, this.#unit)
    return Number.isFinite(place) ? place : undefined
  }
}

async function loneFrame(
  codec: ZstdCodec,
  salt: number,
  { bytes, offset }: Window,
  start: number,
  frameEnd: number,
  before: readonly SalvagedUnit[],
): Promise<SalvagedUnit | undefined> {
  const content = await frameContent(codec, bytes, start, frameEnd)
  if (content === undefined) return undefined
  const { firstSeq, events } = content
  const lastSeq = firstSeq + events - 1
  const behind = frameEnd + COMMIT_BYTES
  const previous = before.at(-1)
  const continues = previous?.end === offset + start && previous.lastSeq + 1 === firstSeq
  const next = continues ? undefined : readUnit(bytes, behind, offset, salt)
  const continued = typeof next === 'object' && 'commit' in next && next.commit.firstSeq === lastSeq + 1
  const record = { bytes, start, frameEnd, content }
  const moved = describes(record, readMovedCommit(bytes, frameEnd, salt, offset + frameEnd))
  const foreign = describes(record, readForeignCommit(bytes, frameEnd, salt, offset + frameEnd))
  if (!moved && (foreign || !(continues || continued))) return undefined
  // Where the record is not even there, the next frame follows at once.
  const recordThere = behind <= bytes.length && bytes.readUInt32LE(frameEnd) !== FRAME_MAGIC
  return {
    offset: offset + start,
    end: offset + (recordThere ? behind : frameEnd),
    firstSeq,
    lastSeq,
    terminated: false,
  }
}

/** Whether a record is that of this very frame. */
function describes(
  frame: { readonly bytes: Buffer; readonly start: number; readonly frameEnd: number; readonly content: FrameContent },
  commit: Commit | undefined,
): boolean {
  const { bytes, start, frameEnd, content } = frame
  return (
    commit !== undefined &&
    commit.frameBytes === frameEnd - start &&
    commit.frameCrc === crc32(bytes.subarray(start, frameEnd)) &&
    commit.firstSeq === content.firstSeq &&
    commit.events === content.events &&
    commit.lastTime === content.lastTime
  )
}

/** What a frame without a valid record holds; undefined when its content checksum or its lines do not hold. */
async function frameContent(
  codec: ZstdCodec,
  bytes: Buffer,
  start: number,
  end: number,
): Promise<FrameContent | undefined> {
  const content = await loneContent(codec, bytes, start, end)
  return content === undefined ? undefined : contentOf(content)
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

/** The records of one salvaged frame without a valid record, for the reader of `repair`. */
export async function scanLoneFrame(
  codec: ZstdCodec,
  { bytes, offset }: Window,
  options: ScanOptions,
): Promise<ScanResult> {
  const unknown = { nextSeq: undefined, batchSeq: undefined }
  if (walkFrame(bytes, 0).kind === 'incomplete') return { records: [], end: offset, position: unknown }
  const content = await loneContent(codec, bytes, 0, bytes.length)
  const found = content === undefined ? undefined : contentOf(content)
  if (content === undefined || found === undefined) {
    return { records: [], end: offset, position: unknown, damage: { offset, message: 'a batch is damaged' } }
  }
  const records: ScanResult['records'] = []
  readLines(content, found, options, records)
  const nextSeq = found.firstSeq + found.events
  return { records, end: offset + bytes.length, position: { nextSeq, batchSeq: nextSeq } }
}

/** Records that agree on a salt prove each other: the chance of two damaged ones agreeing is one in four billion. */
const AGREEING_RECORDS = 2

/**
 * Header and salt of a log whose header unit is damaged. The salt is worked out from the records behind it, each of
 * which fits one salt only; the other fields are taken from what is left of the line where it is still JSON.
 */
export function salvageHeaderUnit(
  prefix: Buffer,
  id: string,
):
  | { readonly header: SessionHeader; readonly salt: number; readonly end: number; readonly doubts: readonly string[] }
  | undefined {
  const salt = saltOfRecords(prefix)
  if (salt === undefined) return undefined
  const { fields, end } = leftFields(prefix)
  const { createdAt, messageFormat } = fields
  const header: SessionHeader = {
    version: FORMAT_VERSION,
    id,
    createdAt: Number.isSafeInteger(createdAt) ? (createdAt as number) : 0,
    messageFormat: typeof messageFormat === 'string' && messageFormat !== '' ? messageFormat : 'plain',
    ...textField('cwd', fields.cwd),
    ...textField('origin', fields.origin),
  }
  return {
    header,
    salt,
    end,
    doubts: ['the header is damaged: its fields are taken from what is left of it, and could not be proven'],
  }
}

function textField(name: 'cwd' | 'origin', value: unknown): { readonly [key in typeof name]?: string } {
  return typeof value === 'string' && value !== '' ? { [name]: value } : {}
}

/** Fields of the header line, and the offset behind its unit; none, and 0, where the line is not whole. */
function leftFields(prefix: Buffer): { readonly fields: { readonly [key: string]: unknown }; readonly end: number } {
  const walk = walkFrame(prefix, 0)
  const line = walk.kind === 'frame' ? readRawFrame(prefix, walk) : undefined
  try {
    const value: unknown = JSON.parse(line?.toString('utf8') ?? '')
    if (walk.kind === 'frame' && typeof value === 'object' && value !== null) {
      return { fields: value as { readonly [key: string]: unknown }, end: walk.end + COMMIT_BYTES }
    }
  } catch {}
  return { fields: {}, end: 0 }
}

/** The salt of at least {@link AGREEING_RECORDS} records, or of the only one. */
function saltOfRecords(bytes: Buffer): number | undefined {
  const votes = new Map<number, number>()
  for (let at = bytes.indexOf(COMMIT_START); at !== -1; at = bytes.indexOf(COMMIT_START, at + 1)) {
    const salt = saltOf(bytes, at, at)
    // The header's own record has none.
    if (salt === undefined || readCommit(bytes, at, 0, at)?.events === 0) continue
    const count = (votes.get(salt) ?? 0) + 1
    if (count >= AGREEING_RECORDS) return salt
    votes.set(salt, count)
  }
  return votes.size === 1 ? votes.keys().next().value : undefined
}
