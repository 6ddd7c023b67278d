/** Finds everything that can be proven in damaged bytes, for `repair`. */
import { FORMAT_VERSION, type SessionHeader } from '@session-persistence/core'
import type { SalvagedUnit, Window } from '@session-persistence/file-log'
import { seedOf } from './crc.ts'
import { HEADER_LINE_BYTES_MAX } from './header-line.ts'
import { CRC_BYTES, hexAt, LF, type LineFormat } from './line.ts'
import { type LineUnit, verifyLine } from './line-unit.ts'

/** How every record starts. */
const START = Buffer.from('{"seq":')
/** Places tried in one damaged line. */
const TRIES_MAX = 10_000

/** Every verified line among the whole lines of the window; where line ends were lost, also lines glued together. */
export function salvageLines(
  format: LineFormat,
  { bytes, offset }: Window,
): { readonly units: readonly SalvagedUnit[]; readonly consumed: number } {
  const units: SalvagedUnit[] = []
  let at = 0
  for (;;) {
    const end = bytes.indexOf(LF, at)
    if (end === -1) return { units, consumed: at }
    const unit = verifyLine(format, bytes, at, end)
    if (unit === undefined) gluedLines(format, bytes, offset, at, end, units)
    else units.push(salvaged(unit, offset + at, offset + end + 1, true))
    at = end + 1
  }
}

function salvaged({ firstSeq, lastSeq }: LineUnit, offset: number, end: number, terminated: boolean): SalvagedUnit {
  return { offset, end, firstSeq, lastSeq, terminated }
}

/** Lines inside `[start, end)`, each from one start of a record to another, whatever stands around them. */
function gluedLines(
  format: LineFormat,
  bytes: Buffer,
  offset: number,
  start: number,
  end: number,
  into: SalvagedUnit[],
): void {
  // Without a checksum nothing proves that a piece is what was written.
  if (format.checksum === 'none') return
  const starts: number[] = []
  for (let at = bytes.indexOf(START, start); at !== -1 && at < end; at = bytes.indexOf(START, at + 1)) starts.push(at)
  let tries = TRIES_MAX
  for (let index = 0; index < starts.length && tries > 0; index++) {
    const from = starts[index] ?? end
    // Data may hold objects that start like a record: the end may lie behind several such places.
    for (let next = index + 1; next <= starts.length && tries > 0; next++, tries--) {
      const stop = endOfPiece(format, bytes, from, starts[next] ?? end)
      if (stop === undefined) continue
      into.push(salvaged(stop.unit, offset + from, offset + stop.end, false))
      index = next - 1
      break
    }
  }
}

/** A line that ends at `stop`, or one byte before it where its terminator was overwritten. */
function endOfPiece(
  format: LineFormat,
  bytes: Buffer,
  from: number,
  stop: number,
): { readonly unit: LineUnit; readonly end: number } | undefined {
  for (const end of [stop, stop - 1]) {
    const unit = verifyLine(format, bytes, from, end)
    if (unit !== undefined) return { unit, end }
  }
  return undefined
}

/** Seeds that agree prove each other: the chance of two damaged lines agreeing is one in four billion. */
const AGREEING_LINES = 2

/**
 * Header and format of a log whose header line is damaged. The salt is worked out from lines behind it, each of which
 * fits one salt only; the other fields are taken from what is left of the line where it is still JSON.
 */
export function salvageHeaderLine(
  prefix: Buffer,
  id: string,
): { readonly header: SessionHeader; readonly format: LineFormat; readonly doubts: readonly string[] } | undefined {
  const salt = saltOfLines(prefix)
  if (salt === undefined) return undefined
  const fields = leftFields(prefix)
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
    format: { checksum: 'crc32', salt },
    doubts: ['the header is damaged: its fields are taken from what is left of it, and could not be proven'],
  }
}

function textField(name: 'cwd' | 'origin', value: unknown): { readonly [key in typeof name]?: string } {
  return typeof value === 'string' && value !== '' ? { [name]: value } : {}
}

function leftFields(prefix: Buffer): { readonly [key: string]: unknown } {
  const end = prefix.indexOf(LF)
  if (end === -1 || end > HEADER_LINE_BYTES_MAX) return {}
  try {
    const value: unknown = JSON.parse(prefix.toString('utf8', 0, end))
    return typeof value === 'object' && value !== null ? (value as { readonly [key: string]: unknown }) : {}
  } catch {
    return {}
  }
}

/** The salt with which at least {@link AGREEING_LINES} lines, or the only one, have the checksum that they carry. */
function saltOfLines(bytes: Buffer): number | undefined {
  const votes = new Map<number, number>()
  let lines = 0
  for (let at = bytes.indexOf(START); at !== -1; ) {
    const end = bytes.indexOf(LF, at)
    if (end === -1) break
    const stored = end - CRC_BYTES > at ? hexAt(bytes, end - 10) : -1
    if (stored !== -1) {
      lines++
      const seed = seedOf(bytes, at, end - CRC_BYTES, stored)
      const count = (votes.get(seed) ?? 0) + 1
      if (count >= AGREEING_LINES) return seed
      votes.set(seed, count)
    }
    at = bytes.indexOf(START, end)
  }
  return lines === 1 ? votes.keys().next().value : undefined
}
