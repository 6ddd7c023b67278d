/**
 * The end of a log of frames: its last complete batch, and the verdict on what follows (events-and-recovery, physical
 * tail). Reads the last record and the frame before it, whatever the length of the log; behind damage it searches for
 * the last record that counts, in steps of bounded size.
 *
 * A record counts only when a valid record, or the header, ends where its frame starts, and its seq continues that one:
 * payload that looks like a record does neither.
 */
import { crc32 } from 'node:zlib'
import { SessionError } from '@session-persistence/core'
import {
  type BatchSpan,
  type ByteSource,
  type Damage,
  hasZeroedSector,
  type LogTail,
  SECTOR_BYTES,
  type TailVerdict,
  type Window,
} from '@session-persistence/file-log'
import { COMMIT_BYTES, COMMIT_START, readMovedCommit } from './commit-record.ts'
import { lastCommit, type PlacedCommit, placedCommit } from './commit-search.ts'
import { FileEnd, STEP_BYTES } from './file-end.ts'
import { UNIT_BYTES_MAX } from './frame-unit.ts'
import {
  BLOCK_HEADER_BYTES,
  blockContentMax,
  CHECKSUM_BYTES,
  FRAME_HEADER_BYTES_MAX,
  readBlockHeader,
  readFrameHeader,
} from './frame-walk.ts'

/** Once the end of the file has no record. */
const LONG_STEP_BYTES = 4 * 1024 * 1024
/** Read around a block header; the next one is usually 128 KiB away, and in a forged frame four bytes. */
const NEAR_BYTES = 4096

export function findFrameTail(source: ByteSource, dataStart: number, salt: number): Promise<LogTail> {
  return new FrameTail(new FileEnd(source, dataStart), dataStart, salt).find()
}

class FrameTail {
  readonly #file: FileEnd
  readonly #dataStart: number
  readonly #salt: number

  constructor(file: FileEnd, dataStart: number, salt: number) {
    this.#file = file
    this.#dataStart = dataStart
    this.#salt = salt
  }

  async find(): Promise<LogTail> {
    const { size } = this.#file
    if (size <= this.#dataStart) return this.#tail(undefined, { kind: 'clean' })
    let disorder: Damage | undefined
    for (let before = size; ; ) {
      const last = await this.#commitBefore(before)
      if (last === undefined)
        return this.#tail(undefined, disorder ? corrupt(disorder) : await this.#verdict(undefined))
      const previous = await this.#previous(last)
      if (previous === undefined) {
        before = last.at
        continue
      }
      const found = last.commit.firstSeq
      const expected = previous === 'header' ? 0 : nextSeqOf(previous)
      if (found !== expected) {
        disorder = {
          offset: last.frame,
          seq: expected,
          found,
          message: `expected the batch at seq ${expected}, found seq ${found}`,
        }
        before = last.frame
        continue
      }
      if (disorder !== undefined) return this.#tail(last, corrupt(disorder))
      return await this.#judge(last, previous)
    }
  }

  /** `last` counts. What of it, and of the bytes behind it, is sound? */
  async #judge(last: PlacedCommit, previous: PlacedCommit | 'header'): Promise<LogTail> {
    const { size } = this.#file
    if (await this.#isSound(last)) {
      return this.#tail(last, last.end === size ? { kind: 'clean' } : await this.#verdict(last))
    }
    const damage = damageOf(last, 'its checksum does not match')
    // Only the last batch of all can be one that a power cut left with holes; what `seal` made was synced as a whole.
    const holed = last.end === size && last.commit.kind === 'batch' && (await this.#hasHole(last.frame, size))
    if (!holed) return this.#tail(last, corrupt(damage))
    const before = previous === 'header' ? undefined : previous
    if (before !== undefined && !(await this.#isSound(before))) {
      return this.#tail(before, corrupt(damageOf(before, 'its checksum does not match')))
    }
    return this.#tail(before, { kind: 'torn', offset: last.frame, bytes: size - last.frame })
  }

  /** On the bytes behind the last batch, which end a record that counts. */
  async #verdict(last: PlacedCommit | undefined): Promise<TailVerdict> {
    const { size } = this.#file
    const start = last?.end ?? this.#dataStart
    const torn: TailVerdict = { kind: 'torn', offset: start, bytes: size - start }
    // No record ends with a NUL.
    if ((await this.#file.bytes(size - 1, 1))[0] === 0) return torn
    const end = await this.#endOfWrite(start)
    if (end === 'beyond') return torn
    // A hole that a power cut left has nothing sound behind it: holes are in the last batch only.
    if ((await this.#hasHole(start, size)) && !(await this.#endsSound(start))) return torn
    const seq = last === undefined ? 0 : nextSeqOf(last)
    if (end.found === undefined)
      return corrupt({ offset: start, seq, message: `the batch at seq ${seq} is damaged: ${end.why}` })
    const { found } = end
    return corrupt({ offset: start, seq, found, message: `expected the batch at seq ${seq}, found seq ${found}` })
  }

  /** Whether the file ends with a unit that verifies, at or behind `start`. */
  async #endsSound(start: number): Promise<boolean> {
    const { size } = this.#file
    const at = size - COMMIT_BYTES
    if (at < start) return false
    const found = placedCommit({ bytes: await this.#file.bytes(at, COMMIT_BYTES), offset: at }, at, this.#salt)
    return found !== undefined && found.frame >= start && (await this.#isSound(found))
  }

  /** `beyond` when the unit that starts at `start` would go on behind the file; else what stands there instead of one. */
  async #endOfWrite(start: number): Promise<'beyond' | { readonly why: string; readonly found?: number }> {
    const { size } = this.#file
    const window = await this.#file.bytes(start, Math.min(FRAME_HEADER_BYTES_MAX, size - start))
    const header = readFrameHeader(window, 0, window.length)
    if ('kind' in header) return header.kind === 'incomplete' ? 'beyond' : { why: header.why }
    const blockMax = blockContentMax(header)
    let at = start + header.blocks
    let near: Window = { bytes: window, offset: start }
    for (;;) {
      if (at + BLOCK_HEADER_BYTES > size) return 'beyond'
      if (at + BLOCK_HEADER_BYTES > near.offset + near.bytes.length) {
        near = { bytes: await this.#file.bytes(at, Math.min(NEAR_BYTES, size - at)), offset: at }
      }
      const block = readBlockHeader(near.bytes.readUIntLE(at - near.offset, BLOCK_HEADER_BYTES), blockMax)
      if (block === undefined) return { why: 'a block header is damaged' }
      at += BLOCK_HEADER_BYTES + block.stored
      if (block.last) break
    }
    at += header.checksum ? CHECKSUM_BYTES : 0
    if (at > size) return 'beyond'
    const record = await this.#file.bytes(at, Math.min(COMMIT_BYTES, size - at))
    const damaged = { why: 'its commit record is damaged' }
    if (record.length < COMMIT_BYTES) {
      const length = Math.min(record.length, COMMIT_START.length)
      return record.subarray(0, length).equals(COMMIT_START.subarray(0, length)) ? 'beyond' : damaged
    }
    const moved = readMovedCommit(record, 0, this.#salt, at)
    return moved === undefined ? damaged : { ...damaged, found: moved.firstSeq }
  }

  /** The last valid record that ends at or before `end`, whether it counts or not. */
  async #commitBefore(end: number): Promise<PlacedCommit | undefined> {
    const { size } = this.#file
    let step = STEP_BYTES
    for (let high = end; high - this.#dataStart >= COMMIT_BYTES; step = LONG_STEP_BYTES) {
      if (size - high > UNIT_BYTES_MAX) {
        throw new SessionError(
          'CORRUPT',
          `the end of the log is damaged: no batch in the last ${UNIT_BYTES_MAX} bytes`,
          {
            path: this.#file.path,
            offset: high,
          },
        )
      }
      const low = Math.max(this.#dataStart, high - step)
      const found = lastCommit({ bytes: await this.#file.bytes(low, high - low), offset: low }, high, this.#salt)
      if (found !== undefined) return found
      if (low === this.#dataStart) return undefined
      high = low + COMMIT_BYTES - 1
    }
    return undefined
  }

  /** What ends where the frame of `commit` starts; undefined when nothing valid does. */
  async #previous({ frame }: PlacedCommit): Promise<PlacedCommit | 'header' | undefined> {
    if (frame === this.#dataStart) return 'header'
    const at = frame - COMMIT_BYTES
    if (at < this.#dataStart) return undefined
    const window: Window = { bytes: await this.#file.bytes(at, COMMIT_BYTES), offset: at }
    return placedCommit(window, at, this.#salt)
  }

  async #isSound({ frame, at, commit }: PlacedCommit): Promise<boolean> {
    let crc = 0
    for (let from = frame; from < at; from += STEP_BYTES) {
      crc = crc32(await this.#file.bytes(from, Math.min(STEP_BYTES, at - from)), crc)
    }
    return crc === commit.frameCrc
  }

  /** Whether the share of some sector in `[start, end)`, written as one, is all NUL. */
  async #hasHole(start: number, end: number): Promise<boolean> {
    for (let from = start; from < end; ) {
      const to = Math.min(end, Math.floor(from / SECTOR_BYTES) * SECTOR_BYTES + STEP_BYTES)
      const bytes = await this.#file.bytes(from, to - from)
      if (hasZeroedSector(bytes, 0, bytes.length, from, start, end)) return true
      from = to
    }
    return false
  }

  #tail(last: PlacedCommit | undefined, verdict: TailVerdict): LogTail {
    const lastBatch: BatchSpan | undefined =
      last === undefined ? undefined : { offset: last.frame, end: last.end, firstSeq: last.commit.firstSeq }
    return {
      end: last?.end ?? this.#dataStart,
      nextSeq: last === undefined ? 0 : nextSeqOf(last),
      lastTime: last?.commit.lastTime,
      lastBatch,
      terminated: true,
      verdict,
    }
  }
}

function nextSeqOf({ commit }: PlacedCommit): number {
  return commit.firstSeq + commit.events
}

function damageOf({ frame, commit }: PlacedCommit, why: string): Damage {
  return { offset: frame, seq: commit.firstSeq, message: `the batch at seq ${commit.firstSeq} is damaged: ${why}` }
}

function corrupt(damage: Damage): TailVerdict {
  return { kind: 'corrupt', damage }
}
