/** The header of a log of which the header line is damaged, for `repair`. Pure over bytes. */
import { isSessionError, leftHeader, type SessionHeader, type StorageRepairOptions } from '@session-persistence/core'
import { type SalvagedHeader, seedOf, wrongBytes } from '@session-persistence/file-log'
import { crc32Of, viewOf } from './crc.ts'
import {
  BYTE_ORDER_MARK,
  decodeHeaderLine,
  encodeHeaderLine,
  HEADER_LINE_BYTES_MAX,
  type HeaderLine,
  hex,
} from './header-line.ts'
import { CRC_BYTES, contentEnd, hexAt, LF, type LineFormat } from './line.ts'

/** How every record starts. */
export const RECORD_START: Buffer = Buffer.from('{"seq":')
/** Seeds that agree prove each other: the chance of two damaged lines agreeing is one in four billion. */
const AGREEING_LINES = 2

export interface SalvagedHeaderLine extends Pick<SalvagedHeader, 'doubts'> {
  readonly header: SessionHeader
  readonly format: LineFormat
  /** Behind the line; 0 where the rest of it is passed over like any other bytes that cannot be read. */
  readonly end: number
}

/**
 * Where one byte of the line is wrong, its checksum tells which. Otherwise the salt is worked out from lines behind it, each of which fits
 * one salt only, and the fields are what is left of the line. Undefined where neither can be told.
 */
export function salvageHeaderLine(
  prefix: Buffer,
  id: string,
  messageFormats: StorageRepairOptions['messageFormats'],
): SalvagedHeaderLine | undefined {
  const salt = saltOfLines(prefix)
  const start = prefix.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
  const ends = lineEnds(prefix, start)
  for (const end of ends) {
    const proven = correctedLine(prefix.subarray(start, contentEnd(prefix, start, end)), id)
    if (proven === undefined || (salt !== undefined && proven.format.salt !== salt)) continue
    return { header: proven.header, format: proven.format, end: Math.min(end + 1, prefix.length), doubts: [] }
  }
  if (salt === undefined) return undefined
  const line = prefix.subarray(start, Math.min(...ends, prefix.length))
  const { header, doubts } = leftHeader(line.toString('utf8'), id, messageFormats)
  return { header, format: { checksum: 'crc32', salt }, end: 0, doubts }
}

/** Where the line may end: at the first line end, unless that is what was damaged; or one byte before the first record. */
function lineEnds(prefix: Buffer, start: number): readonly number[] {
  const lineEnd = prefix.indexOf(LF, start)
  const record = prefix.indexOf(RECORD_START, start)
  return [lineEnd, record - 1].filter((end) => end > start && end < HEADER_LINE_BYTES_MAX)
}

/** The header of a line of which one byte at most is not what was written; undefined unless that is one line only. */
function correctedLine(line: Buffer, id: string): HeaderLine | undefined {
  if (line.length <= CRC_BYTES) return undefined
  const body = line.subarray(0, -CRC_BYTES)
  const crc = crc32Of(body, viewOf(body), 0, body.length, 0)
  const stored = hexAt(line, line.length - CRC_BYTES + ',"crc":"'.length)
  const bodies = differences(suffix(crc), line.subarray(-CRC_BYTES)) <= 1 ? [body] : []
  if (stored !== -1 && suffix(stored).equals(line.subarray(-CRC_BYTES))) {
    for (const { at, xor } of wrongBytes(body, crc, stored)) {
      const corrected = Buffer.from(body)
      corrected[at] = (corrected[at] ?? 0) ^ xor
      bodies.push(corrected)
    }
  }
  const found = bodies.flatMap((one) => headerOf(one, id) ?? [])
  return found.length === 1 ? found[0] : undefined
}

/** Only exactly what a writer makes of the header that it says. */
function headerOf(body: Buffer, id: string): HeaderLine | undefined {
  const line = Buffer.concat([body, suffix(crc32Of(body, viewOf(body), 0, body.length, 0)), Buffer.from([LF])])
  try {
    const found = decodeHeaderLine(line)
    return found.header.id === id && encodeHeaderLine(found.header, found.format).equals(line) ? found : undefined
  } catch (error) {
    if (isSessionError(error, 'CORRUPT')) return undefined
    throw error
  }
}

function suffix(crc: number): Buffer {
  return Buffer.from(`,"crc":"${hex(crc)}"}`)
}

function differences(a: Buffer, b: Buffer): number {
  return a.reduce((sum, byte, at) => sum + (byte === b[at] ? 0 : 1), 0)
}

/** The salt with which at least {@link AGREEING_LINES} lines, or the only one, have the checksum that they carry. */
function saltOfLines(bytes: Buffer): number | undefined {
  const votes = new Map<number, number>()
  let lines = 0
  for (let at = bytes.indexOf(RECORD_START); at !== -1; ) {
    const end = bytes.indexOf(LF, at)
    if (end === -1) break
    const stored = end - CRC_BYTES > at ? hexAt(bytes, end - 10) : -1
    if (stored !== -1) {
      lines++
      const seed = seedOf(bytes.subarray(at, end - CRC_BYTES), stored)
      const count = (votes.get(seed) ?? 0) + 1
      if (count >= AGREEING_LINES) return seed
      votes.set(seed, count)
    }
    at = bytes.indexOf(RECORD_START, end)
  }
  return lines === 1 ? votes.keys().next().value : undefined
}
