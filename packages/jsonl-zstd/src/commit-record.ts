/**
 * The commit record: a skippable frame of fixed size behind every frame, which makes the frame before it count.
 *
 *      0  magic number of a skippable frame, 0x184D2A5D          4 bytes, little-endian as all others
 *      4  bytes that follow: 36                                  4
 *      8  seq of the first event                                 8
 *     16  time of the last event, Unix milliseconds              8, signed
 *     24  bytes of the frame                                     4
 *     28  bytes of its content                                   4
 *     32  CRC-32 of the frame's bytes                            4
 *     36  events                                                 3
 *     39  CRC-32 of this record, seeded with the session's salt, over bytes 0 to 38, the mark, and the record's own
 *         offset in the file as 8 bytes                          4
 *     43  mark: 0xC5 for a batch, 0xBA for a frame that `seal` made; never NUL, so that NULs at the end of a file are
 *         never part of a record                                 1
 *
 * Salt and offset make a record count in its own session and at its own place only.
 */
import { crc32 } from 'node:zlib'
import { seedOf } from '@session-persistence/file-log'

export const COMMIT_BYTES = 44
const MAGIC = 0x184d2a5d
const BODY_BYTES = 36
/** The first eight bytes of every record. */
export const COMMIT_START: Buffer = Buffer.alloc(8)
COMMIT_START.writeUInt32LE(MAGIC, 0)
COMMIT_START.writeUInt32LE(BODY_BYTES, 4)

const CRC_AT = 39
const MARK_AT = 43
/** Everything but the CRC itself. */
const CHECKED_BYTES = CRC_AT + 1
const MARKS = { batch: 0xc5, sealed: 0xba } as const
/** Of one frame: more than the smallest events of a batch at its limit. */
export const COMMIT_EVENTS_MAX = 0xffffff
const UINT32 = 2 ** 32
/** How far towards the start of a short file a unit may have been moved and still be told as its own. */
const MOVED_BYTES_MAX = 1024 * 1024

export interface Commit {
  readonly kind: 'batch' | 'sealed'
  /** Seq of the first event of the frame. */
  readonly firstSeq: number
  readonly events: number
  /** Of the last event. */
  readonly lastTime: number
  /** Of the frame. */
  readonly frameBytes: number
  readonly contentBytes: number
  readonly frameCrc: number
}

const scratch = Buffer.alloc(CHECKED_BYTES + 8)

/** Writes the record at `at` of `into`; `offset` is where that will stand in the file. */
export function writeCommit(into: Buffer, at: number, commit: Commit, salt: number, offset: number): void {
  COMMIT_START.copy(into, at)
  writeInt64(into, commit.firstSeq, at + 8)
  writeInt64(into, commit.lastTime, at + 16)
  into.writeUInt32LE(commit.frameBytes, at + 24)
  into.writeUInt32LE(commit.contentBytes, at + 28)
  into.writeUInt32LE(commit.frameCrc, at + 32)
  into.writeUIntLE(commit.events, at + 36, 3)
  into[at + MARK_AT] = MARKS[commit.kind]
  into.writeUInt32LE(ownCrc(into, at, salt, offset), at + CRC_AT)
}

/** The record at `at` of `bytes`, which stands at `offset` in the file; undefined unless it is exactly what was written there. */
export function readCommit(bytes: Buffer, at: number, salt: number, offset: number): Commit | undefined {
  if (!hasForm(bytes, at) || bytes.readUInt32LE(at + CRC_AT) !== ownCrc(bytes, at, salt, offset)) return undefined
  return readBody(bytes, at)
}

/**
 * The record at `at` when everything about it is sound but a sum that is not this session's: more than one byte of it
 * differs, which damage to the record alone hardly does without touching anything else.
 */
export function readForeignCommit(bytes: Buffer, at: number, salt: number, offset: number): Commit | undefined {
  if (!hasForm(bytes, at)) return undefined
  const difference = bytes.readUInt32LE(at + CRC_AT) ^ ownCrc(bytes, at, salt, offset)
  const differing = [0, 8, 16, 24].filter((shift) => ((difference >>> shift) & 0xff) !== 0).length
  return differing > 1 ? readBody(bytes, at) : undefined
}

function readBody(bytes: Buffer, at: number): Commit | undefined {
  const firstSeq = readInt64(bytes, at + 8)
  const lastTime = readInt64(bytes, at + 16)
  // A record may be forged by whoever can write the whole file.
  if (!Number.isSafeInteger(firstSeq) || firstSeq < 0 || !Number.isSafeInteger(lastTime)) return undefined
  return {
    kind: bytes[at + MARK_AT] === MARKS.batch ? 'batch' : 'sealed',
    firstSeq,
    lastTime,
    frameBytes: bytes.readUInt32LE(at + 24),
    contentBytes: bytes.readUInt32LE(at + 28),
    frameCrc: bytes.readUInt32LE(at + 32),
    events: bytes.readUIntLE(at + 36, 3),
  }
}

/** The bytes of the record that its own CRC covers, the offset included. */
function checkedBytes(bytes: Buffer, at: number, offset: number): Buffer {
  // A third of what `copy` takes for so few; a replay of small batches reads thousands of records.
  for (let index = 0; index < CRC_AT; index++) scratch[index] = bytes[at + index] ?? 0
  scratch[CRC_AT] = bytes[at + MARK_AT] ?? 0
  writeInt64(scratch, offset, CHECKED_BYTES)
  return scratch
}

/** The salt with which the record at `at` would hold at `offset`; undefined for what has not the form of a record. */
export function saltOf(bytes: Buffer, at: number, offset: number): number | undefined {
  if (!hasForm(bytes, at)) return undefined
  return seedOf(checkedBytes(bytes, at, offset), bytes.readUInt32LE(at + CRC_AT))
}

/**
 * The record at `at` of `bytes`, when it holds not at `offset`, where it stands, but somewhere else in this file: a unit
 * that was moved, or that stands behind a cut. One damaged record in some thousands looks like that too.
 */
export function readMovedCommit(bytes: Buffer, at: number, salt: number, offset: number): Commit | undefined {
  const home = homeOf(bytes, at, salt)
  // Of a damaged record, and of another session's, the home is any number.
  if (home === undefined || home === offset || home > 2 * offset + MOVED_BYTES_MAX) return undefined
  return readCommit(bytes, at, salt, home)
}

/**
 * The offset at which the record at `at` would hold with this salt, in a file of less than 4 GiB: the sum over the bytes
 * before the offset, and the sum over all with the offset taken as 0 and undone, differ by exactly that. Undefined for
 * what has not the form of a record. A record of another session gives any number.
 */
function homeOf(bytes: Buffer, at: number, salt: number): number | undefined {
  if (!hasForm(bytes, at)) return undefined
  const before = crc32(checkedBytes(bytes, at, 0).subarray(0, CHECKED_BYTES), salt)
  return (before ^ seedOf(new Uint8Array(8), bytes.readUInt32LE(at + CRC_AT))) >>> 0
}

/** Magic number, length and mark. */
function hasForm(bytes: Buffer, at: number): boolean {
  if (at < 0 || at + COMMIT_BYTES > bytes.length) return false
  if (bytes.readUInt32LE(at) !== MAGIC || bytes.readUInt32LE(at + 4) !== BODY_BYTES) return false
  const mark = bytes[at + MARK_AT]
  return mark === MARKS.batch || mark === MARKS.sealed
}

function ownCrc(bytes: Buffer, at: number, salt: number, offset: number): number {
  return crc32(checkedBytes(bytes, at, offset), salt)
}

/** Faster than going through a BigInt. */
function writeInt64(into: Buffer, value: number, at: number): void {
  const high = Math.floor(value / UINT32)
  into.writeUInt32LE(value - high * UINT32, at)
  into.writeInt32LE(high, at + 4)
}

function readInt64(bytes: Buffer, at: number): number {
  return bytes.readInt32LE(at + 4) * UINT32 + bytes.readUInt32LE(at)
}
