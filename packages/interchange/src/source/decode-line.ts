import { isUtf8 } from 'node:buffer'
import { depthExceeds, LIMITS } from '@session-persistence/core'
import type { DamagedLine, DamageReason } from '../report/import-report.ts'
import { splitObjects, splitTorn } from './glued-records.ts'
import { hasInexactNumber, withPlainNumbers } from './inexact-numbers.ts'
import { LINE_BYTES_MAX, type SourceLine } from './split-lines.ts'

export type SourceRecord = { readonly [key: string]: unknown }

/** Bytes that are no record, or a record whose values are not what its text says. */
export interface RawText {
  readonly reason: DamageReason
  readonly text: string
  /** `base64` where the bytes are not UTF-8. */
  readonly encoding: 'utf-8' | 'base64'
}

export interface DecodedLine {
  /** In order; several when they were glued. */
  readonly records: readonly SourceRecord[]
  /** To be kept as `interchange/damaged`. */
  readonly raw: readonly RawText[]
  readonly damage: readonly DamagedLine[]
  readonly blank: boolean
  readonly byteOrderMark: boolean
  readonly crlf: boolean
}

/** Two levels stay free: a record may be put into an object, or its message into another one. */
const DEPTH_MAX = LIMITS.depth - 4

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * What stands on one line. Tolerant where nothing is lost: a byte order mark at the start of the file, CR before the
 * newline, NULs around a record, several records on a line, a stub before one.
 * @param isRecord tells a whole record of the format from an object inside one; used only behind a stub
 */
export function decodeLine(line: SourceLine, isRecord: (value: unknown) => boolean): DecodedLine {
  if (line.piece !== undefined) {
    const damage = line.piece === 0 ? [damaged(line, 'too-long', 'raw')] : []
    return { ...NOTHING, raw: [rawText('too-long', line.bytes)], damage }
  }
  const byteOrderMark = line.offset === 0 && line.bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)
  const trimmed = trim(byteOrderMark ? line.bytes.subarray(3) : line.bytes)
  const { bytes, crlf, nuls } = trimmed
  const facts = { byteOrderMark, crlf }
  if (bytes.length === 0) {
    if (nuls === 0) return { ...NOTHING, ...facts, blank: true }
    const raw: RawText = { reason: 'nul-run', text: '', encoding: 'utf-8' }
    return { ...NOTHING, ...facts, raw: [raw], damage: [damaged(line, 'nul-run', 'raw')] }
  }
  const decoded = decodeText(line, bytes, isRecord)
  const damage = nuls === 0 ? decoded.damage : [damaged(line, 'nul-run', 'mapped'), ...decoded.damage]
  return { ...NOTHING, ...facts, ...decoded, damage }
}

const NOTHING: DecodedLine = Object.freeze({
  records: [],
  raw: [],
  damage: [],
  blank: false,
  byteOrderMark: false,
  crlf: false,
})

function trim(all: Buffer): { readonly bytes: Buffer; readonly crlf: boolean; readonly nuls: number } {
  let start = 0
  let end = all.length
  let nuls = 0
  const crlf = end > 0 && all[end - 1] === 0x0d
  while (start < end && isPadding(all[start])) if (all[start++] === 0) nuls++
  while (end > start && isPadding(all[end - 1])) if (all[--end] === 0) nuls++
  return { bytes: all.subarray(start, end), crlf, nuls }
}

function isPadding(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0
}

function decodeText(
  line: SourceLine,
  bytes: Buffer,
  isRecord: (value: unknown) => boolean,
): Pick<DecodedLine, 'records' | 'raw' | 'damage'> {
  const valid = isUtf8(bytes)
  const text = bytes.toString('utf8')
  const raw: RawText[] = []
  const damage: DamagedLine[] = []
  const wholeRaw = (reason: DamageReason): Pick<DecodedLine, 'records' | 'raw' | 'damage'> => ({
    records: [],
    raw: [rawText(reason, bytes)],
    damage: [damaged(line, reason, 'raw')],
  })
  // U+FFFD takes three bytes in the place of one.
  if (!valid && Buffer.byteLength(text) > LINE_BYTES_MAX) return wholeRaw('invalid-utf8')
  if (depthExceeds(text, DEPTH_MAX)) return wholeRaw('too-deep')
  const parsed = parseLine(text, isRecord)
  if (parsed === undefined) return wholeRaw(valid ? 'not-json' : 'invalid-utf8')
  if (parsed.records === undefined) return wholeRaw('not-an-object')
  if (!valid) {
    raw.push(rawText('invalid-utf8', bytes))
    damage.push(damaged(line, 'invalid-utf8', 'mapped'))
  }
  if (parsed.stub !== undefined) raw.push({ reason: 'torn-record', text: parsed.stub, encoding: 'utf-8' })
  if (parsed.reason !== undefined) damage.push(damaged(line, parsed.reason, 'mapped'))
  if (hasInexactNumber(text)) {
    if (valid) raw.push(rawText('inexact-number', bytes))
    damage.push(damaged(line, 'inexact-number', 'mapped'))
    for (const record of parsed.records) withPlainNumbers(record)
  }
  return { records: parsed.records, raw, damage }
}

interface ParsedLine {
  /** Undefined when the line is JSON but holds something else than objects. */
  readonly records: readonly SourceRecord[] | undefined
  readonly stub?: string
  readonly reason?: DamageReason
}

function parseLine(text: string, isRecord: (value: unknown) => boolean): ParsedLine | undefined {
  const whole = parseObjects([text])
  if (whole !== undefined) return whole
  const pieces = splitObjects(text)
  const glued = pieces === undefined ? undefined : parseObjects(pieces)
  if (glued?.records !== undefined) return { ...glued, reason: 'glued-records' }
  const torn = splitTorn(text, isRecord)
  const behind = torn === undefined ? undefined : parseObjects([torn.record])
  if (torn === undefined || behind?.records === undefined) return undefined
  return { ...behind, stub: torn.stub, reason: 'torn-record' }
}

function parseObjects(texts: readonly string[]): ParsedLine | undefined {
  const records: SourceRecord[] = []
  for (const text of texts) {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return undefined
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { records: undefined }
    records.push(value as SourceRecord)
  }
  return { records }
}

function rawText(reason: DamageReason, bytes: Buffer): RawText {
  // A piece may begin or end inside a character: then its bytes are not UTF-8 either.
  return isUtf8(bytes)
    ? { reason, text: bytes.toString('utf8'), encoding: 'utf-8' }
    : { reason, text: bytes.toString('base64'), encoding: 'base64' }
}

function damaged(line: SourceLine, reason: DamageReason, outcome: DamagedLine['outcome']): DamagedLine {
  return { line: line.number, offset: line.offset, reason, outcome }
}
