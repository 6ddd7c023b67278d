/**
 * Plain JSONL, format version 1. The same text with examples: docs/formats/jsonl.md.
 *
 *     session.jsonl = header line, { event line }
 *
 * - Every line is UTF-8 JSON and ends with one LF (0x0A); lines are split at LF and nowhere else. U+2028 and U+2029
 *   stand as escapes.
 * - Header line: see `header-line`. It gives the checksum in use and the salt, a random 32-bit number.
 * - Event line: the event's canonical JSON (keys seq, time, type, data, ignorable, surface, sources), its closing brace
 *   replaced by `,"batch":N` on the last line of a batch only, then `,"crc":"XXXXXXXX"` unless the checksum is `none`,
 *   then the brace. N is the seq of the batch's first event. XXXXXXXX is the CRC-32 (ISO-HDLC, as in zlib), seeded with
 *   the salt, over all bytes of the line before `,"crc":`, in eight lowercase hex digits.
 * - With packing, a line may hold a packed run instead of one event (core, `packed-run`). Readers accept both always.
 * - Seqs are contiguous from 0 over the lines of the file.
 *
 * Read: a CR before the LF, and a byte-order mark before the header, are what other tools add; they lose nothing and
 * are accepted. The last line is complete when its checksum holds, even if its LF is missing or is another byte.
 */
import { randomBytes } from 'node:crypto'
import {
  type AnySessionEvent,
  eventJson,
  FORMAT_VERSION,
  isPackedRun,
  LIMITS,
  packedRunJson,
  packRuns,
  SessionError,
  type SessionHeader,
} from '@session-persistence/core'
import type {
  LogCodec,
  LogDialect,
  SalvagedUnit,
  ScanOptions,
  ScanPosition,
  ScanResult,
  TailReading,
  UnitSpan,
  Window,
} from '@session-persistence/file-log'
import { glanceLog, glanceReceiptCrc } from './glance.ts'
import {
  decodeHeaderLine,
  encodeHeaderLine,
  HEADER_LINE_BYTES_MAX,
  type HeaderLine,
  holdsHeaderLine,
} from './header-line.ts'
import { type Checksum, LF, type LineFormat } from './line.ts'
import { BatchWriter } from './line-batch.ts'
import { scanLines } from './line-scan.ts'
import { readLineTail } from './line-tail.ts'
import { findLine } from './line-unit.ts'
import { salvageLines } from './salvage.ts'
import { salvageHeaderLine } from './salvage-header.ts'

export interface LineCodecOptions {
  /** Whether runs of stream deltas are packed; default false, for readability. */
  readonly pack?: boolean
  /** Default `crc32`. `none` for logs that other tools edit: then a changed byte can pass unnoticed. */
  readonly checksum?: Checksum
  /** Newest format version that is read; for tests of upgrades. */
  readonly formatVersion?: number
  /** The salt of a new log; for tests that need the same bytes twice. Default random. */
  readonly newSalt?: () => number
}

/** An escaped U+2028 takes six bytes in place of three; the rest is the batch mark and the checksum. */
const UNIT_BYTES_MAX = 2 * LIMITS.eventBytes + 128
/** The same, for lines of which up to half is batch mark and checksum. */
const BATCH_BYTES_MAX = 3 * LIMITS.batchBytes

/** INVALID_ARGUMENT for options that are not of the documented form. */
export function lineCodec(options: LineCodecOptions = {}): LogCodec {
  const { pack = false, checksum = 'crc32', formatVersion = FORMAT_VERSION, newSalt = randomSalt } = options
  if (typeof pack !== 'boolean') throw new SessionError('INVALID_ARGUMENT', '`pack` must be true or false')
  if (checksum !== 'crc32' && checksum !== 'none') {
    throw new SessionError('INVALID_ARGUMENT', "`checksum` must be 'crc32' or 'none'")
  }
  return {
    name: 'jsonl',
    version: '1',
    fileName: 'session.jsonl',
    integrity: checksum === 'crc32' ? 'checksum' : 'none',
    modes: { checksum, pack: pack ? 'runs' : 'none' },
    headerBytesMax: HEADER_LINE_BYTES_MAX,
    unitBytesMax: UNIT_BYTES_MAX,
    batchBytesMax: BATCH_BYTES_MAX,
    terminator: LF,
    create(header) {
      const format: LineFormat = { checksum, salt: newSalt() }
      const bytes = encodeHeaderLine(header, format)
      return { bytes, dialect: new LineDialect({ header, format, end: bytes.length, notes: [] }, pack) }
    },
    open(prefix) {
      return new LineDialect(decodeHeaderLine(prefix, formatVersion), pack)
    },
    holdsHeader: holdsHeaderLine,
    glance: glanceLog,
    salvageHeader(prefix, id, messageFormats) {
      const found = salvageHeaderLine(prefix, id, messageFormats)
      if (found === undefined) return undefined
      const { header, format, end, doubts } = found
      return { dialect: new LineDialect({ header, format, end, notes: [] }, pack), doubts }
    },
  }
}

function randomSalt(): number {
  return randomBytes(4).readUInt32BE()
}

/** One large batch must not make every small one after it expensive. */
const LIKELY_BYTES_MAX = 64 * 1024

class LineDialect implements LogDialect {
  readonly header: SessionHeader
  readonly dataStart: number
  readonly notes: readonly string[]
  readonly tail: TailReading
  readonly #format: LineFormat
  readonly #pack: boolean
  /** Room that the next batch is given at first. */
  #likelyBytes = 0

  constructor({ header, format, end, notes }: HeaderLine, pack: boolean) {
    this.header = header
    this.dataStart = end
    this.notes = notes
    this.#format = format
    this.#pack = pack
    this.tail = { kind: 'window', read: (input) => readLineTail(format, input) }
  }

  encodeBatch(events: readonly AnySessionEvent[]): Buffer {
    const first = events[0]
    if (first === undefined) return Buffer.alloc(0)
    events.forEach((event, index) => {
      if (event.seq === first.seq + index) return
      throw new SessionError('INVARIANT', 'the events of a batch are not contiguous', {
        expected: first.seq + index,
        found: event.seq,
      })
    })
    const records = this.#pack ? packRuns(events) : events
    const writer = new BatchWriter(this.#format, first.seq, records.length, this.#likelyBytes)
    records.forEach((record, index) => {
      const json = isPackedRun(record) ? packedRunJson(record) : eventJson(record)
      writer.add(json, index === records.length - 1)
    })
    const bytes = writer.finish()
    // Packed lines are of any length: the next batch will be about as long as this one.
    if (this.#pack) this.#likelyBytes = Math.min(LIKELY_BYTES_MAX, bytes.length + (bytes.length >>> 2))
    return bytes
  }

  scan(window: Window, position: ScanPosition, options: ScanOptions): ScanResult {
    return scanLines(this.#format, window, position, options)
  }

  findUnit(window: Window, from: number): UnitSpan | undefined {
    return findLine(this.#format, window, from)
  }

  firstUnitStart({ bytes, offset }: Window): number | undefined {
    const end = bytes.indexOf(LF)
    return end === -1 || end + 1 >= bytes.length ? undefined : offset + end + 1
  }

  receiptCrc(tail: Buffer): string | undefined {
    return glanceReceiptCrc(this.#format, tail)
  }

  salvage(window: Window): { readonly units: readonly SalvagedUnit[]; readonly consumed: number } {
    return salvageLines(this.#format, window)
  }
}
