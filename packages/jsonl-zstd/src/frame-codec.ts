/**
 * zstd-framed JSONL, format version 1. The same text with examples: docs/formats/jsonl-zstd.md.
 *
 *     session.jsonl.zst = header unit, { batch unit }
 *     unit              = Zstandard frame, commit record
 *
 * - A commit record is a skippable frame of 44 bytes (`commit-record`), so that every tool for Zstandard reads the file
 *   as plain JSONL: the header line, then one record a line.
 * - Header unit: see `header-unit`. It gives the salt, a random 32-bit number.
 * - Batch unit: one append, or what `seal` made of many. The frame declares its content size, has its content checksum,
 *   and needs no dictionary; the content is lines (`record-lines`). Runs of stream deltas are packed. Its record has the
 *   batch's first seq, count, last time, sizes and CRC-32, and counts only in its own session and at its own offset.
 * - Seqs are contiguous from 0 over the units of the file.
 */
import { randomBytes } from 'node:crypto'
import {
  type AnySessionEvent,
  FORMAT_VERSION,
  packRuns,
  SessionError,
  type SessionHeader,
} from '@session-persistence/core'
import type {
  LogCodec,
  LogDialect,
  SalvagedUnit,
  SalvagePlace,
  ScanOptions,
  ScanPosition,
  ScanResult,
  Sealing,
  TailReading,
  UnitSpan,
  Window,
} from '@session-persistence/file-log'
import { chooseCodec, type ZstdCodecName } from './choose-codec.ts'
import { COMMIT_BYTES } from './commit-record.ts'
import { findUnitByCommit, firstUnitStartByCommit, pageStartByCommit } from './commit-search.ts'
import { FrameScanner } from './frame-scan.ts'
import { findFrameTail } from './frame-tail.ts'
import { encodeUnit, requireContiguous, UNIT_BYTES_MAX } from './frame-unit.ts'
import { glanceLog } from './glance.ts'
import { decodeHeaderUnit, encodeHeaderUnit, HEADER_UNIT_BYTES_MAX, holdsHeaderUnit } from './header-unit.ts'
import { scanLoneFrame } from './lone-frame.ts'
import { LineWriter } from './record-lines.ts'
import { salvageFrames } from './salvage.ts'
import { salvageHeaderUnit } from './salvage-header.ts'
import { mergeFrames, planSeal } from './seal.ts'
import type { ZstdCodec } from './zstd-codec.ts'

export interface FrameCodecOptions {
  /** Which Zstandard library compresses and decompresses; default the fastest that this machine has. */
  readonly codec?: ZstdCodecName | ZstdCodec
  /** Whether closing a session merges its small frames into large ones, where that pays; default true. */
  readonly sealAtClose?: boolean
  /** Newest format version that is read; for tests of upgrades. */
  readonly formatVersion?: number
  /** The salt of a new log; for tests that need the same bytes twice. Default random. */
  readonly newSalt?: () => number
}

/** INVALID_ARGUMENT for options that are not of the documented form; NOT_SUPPORTED without a Zstandard codec. */
export function frameCodec(options: FrameCodecOptions = {}): LogCodec {
  const { sealAtClose = true, formatVersion = FORMAT_VERSION, newSalt = randomSalt } = options
  if (typeof sealAtClose !== 'boolean') {
    throw new SessionError('INVALID_ARGUMENT', '`sealAtClose` must be true or false')
  }
  const codec = chooseCodec(options.codec)
  return {
    name: 'jsonl-zstd',
    version: '1',
    fileName: 'session.jsonl.zst',
    integrity: 'checksum',
    modes: { checksum: 'xxh64+crc32', pack: 'runs', codec: codec.name, seal: sealAtClose ? 'close' : 'asked' },
    headerBytesMax: HEADER_UNIT_BYTES_MAX,
    unitBytesMax: UNIT_BYTES_MAX,
    batchBytesMax: UNIT_BYTES_MAX,
    // The checksum of a commit record covers its offset.
    provesPlace: true,
    landmarkBytes: COMMIT_BYTES,
    sealsAtClose: sealAtClose,
    async create(header) {
      const salt = newSalt()
      const bytes = await encodeHeaderUnit(header, salt)
      return { bytes, dialect: new FrameDialect(codec, { header, salt, end: bytes.length }) }
    },
    open(prefix) {
      return new FrameDialect(codec, decodeHeaderUnit(prefix, formatVersion))
    },
    holdsHeader: holdsHeaderUnit,
    glance: glanceLog,
    async salvageHeader(prefix, id, messageFormats) {
      const found = await salvageHeaderUnit(prefix, id, messageFormats)
      if (found === undefined) return undefined
      return { dialect: new FrameDialect(codec, found), doubts: found.doubts }
    },
  }
}

function randomSalt(): number {
  return randomBytes(4).readUInt32BE()
}

class FrameDialect implements LogDialect {
  readonly header: SessionHeader
  readonly dataStart: number
  readonly notes: readonly string[] = []
  readonly tail: TailReading
  readonly sealing: Sealing
  readonly #codec: ZstdCodec
  readonly #salt: number
  readonly #lines: LineWriter = new LineWriter()
  readonly #scanner: FrameScanner

  constructor(
    codec: ZstdCodec,
    { header, salt, end }: { readonly header: SessionHeader; readonly salt: number; readonly end: number },
  ) {
    this.header = header
    this.dataStart = end
    this.#codec = codec
    this.#salt = salt
    this.#scanner = new FrameScanner(codec, salt)
    this.tail = { kind: 'source', find: (source) => findFrameTail(source, end, salt) }
    this.sealing = {
      plan: (source, logEnd, occasion) => planSeal(source, end, salt, logEnd, occasion),
      merge: (pages, offset) => mergeFrames(codec, salt, pages, offset),
    }
  }

  async encodeBatch(events: readonly AnySessionEvent[], offset: number): Promise<Buffer> {
    const first = events[0]
    const last = events.at(-1)
    if (first === undefined || last === undefined) return Buffer.alloc(0)
    requireContiguous(events)
    const content = this.#lines.linesOf(packRuns(events))
    const batch = { kind: 'batch', firstSeq: first.seq, events: events.length, lastTime: last.time } as const
    return await encodeUnit(this.#codec, content, batch, this.#salt, offset)
  }

  scan(window: Window, position: ScanPosition, options: ScanOptions): Promise<ScanResult> {
    if (options.unterminated === true) return scanLoneFrame(this.#codec, this.#salt, window, options)
    return this.#scanner.scan(window, position, options)
  }

  findUnit(window: Window, from: number): UnitSpan | undefined {
    return findUnitByCommit(window, from, this.#salt, this.dataStart)
  }

  pageStart(window: Window): number | undefined {
    return pageStartByCommit(window, this.#salt)
  }

  firstUnitStart(window: Window): number | undefined {
    return firstUnitStartByCommit(window, this.#salt)
  }

  salvage(
    window: Window,
    place: SalvagePlace,
  ): Promise<{ readonly units: readonly SalvagedUnit[]; readonly consumed: number }> {
    return salvageFrames(this.#codec, this.#salt, window, place)
  }
}
