/**
 * The first unit of a log: a frame of raw blocks that holds the header line, and its commit record.
 *
 *     {"format":"session-persistence","version":1,"id":"…","createdAt":…,"messageFormat":"…",…,"salt":"9f86d081"}
 *
 * Raw blocks, so that a listing reads headers without a codec. The commit record has salt 0, first seq 0, no events and
 * `createdAt` as its time: it is the header's checksum, which is verified before anything is understood. Frame and
 * record have this form in every version, and so have the first two fields and the last one of the line.
 */

import { isUtf8 } from 'node:buffer'
import { crc32 } from 'node:zlib'
import {
  checkHeader,
  FORMAT_VERSION,
  isSessionError,
  LIMITS,
  SessionError,
  type SessionHeader,
} from '@session-persistence/core'
import { escapeLineSeparators } from '@session-persistence/file-log'
import { COMMIT_BYTES, readCommit, writeCommit } from './commit-record.ts'
import { BLOCK_HEADER_BYTES, CHECKSUM_BYTES, FRAME_HEADER_BYTES_MAX, FRAME_MAGIC, walkFrame } from './frame-walk.ts'
import { encodeRawFrame, readRawFrame } from './zstd-frame.ts'

const FORMAT = 'session-persistence'
const LF = 0x0a
const OPEN_BRACE = 0x7b
/** U+2028 takes three bytes in the header's limit and six when escaped; then the fields added here, and a line end. */
const LINE_BYTES_MAX = 2 * LIMITS.headerBytes + 256
/** The line needs two blocks at most. */
export const HEADER_UNIT_BYTES_MAX: number =
  LINE_BYTES_MAX + FRAME_HEADER_BYTES_MAX + 2 * BLOCK_HEADER_BYTES + CHECKSUM_BYTES + COMMIT_BYTES

export interface HeaderUnit {
  readonly header: SessionHeader
  readonly salt: number
  /** Offset behind the unit. */
  readonly end: number
}

export async function encodeHeaderUnit(header: SessionHeader, salt: number): Promise<Buffer> {
  const { version, ...fields } = header
  const line = JSON.stringify({ format: FORMAT, version, ...fields, salt: hex(salt) })
  const content = Buffer.from(`${escapeLineSeparators(line)}\n`, 'utf8')
  const frame = await encodeRawFrame(content)
  const unit = Buffer.alloc(frame.length + COMMIT_BYTES)
  frame.copy(unit)
  writeCommit(
    unit,
    frame.length,
    {
      kind: 'batch',
      firstSeq: 0,
      events: 0,
      lastTime: header.createdAt,
      frameBytes: frame.length,
      contentBytes: content.length,
      frameCrc: crc32(frame),
    },
    0,
    frame.length,
  )
  return unit
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0')
}

/** The header line and the offset behind its unit; undefined unless both frame and record are what was written. */
function readHeaderLine(prefix: Buffer): { readonly line: Buffer; readonly end: number } | undefined {
  const walk = walkFrame(prefix, 0)
  if (walk.kind !== 'frame') return undefined
  const commit = readCommit(prefix, walk.end, 0, walk.end)
  if (commit === undefined || commit.events !== 0 || commit.frameBytes !== walk.end) return undefined
  if (crc32(prefix.subarray(0, walk.end)) !== commit.frameCrc) return undefined
  const line = readRawFrame(prefix, walk)
  if (line === undefined || line.length !== commit.contentBytes) return undefined
  return { line, end: walk.end + COMMIT_BYTES }
}

/** True when the prefix holds the whole unit, or can never be one. */
export function holdsHeaderUnit(prefix: Buffer): boolean {
  const walk = walkFrame(prefix, 0)
  if (walk.kind !== 'frame') return walk.kind !== 'incomplete'
  return prefix.length >= walk.end + COMMIT_BYTES
}

/** CORRUPT for what is no header; UNSUPPORTED_VERSION with both numbers for a newer one. */
export function decodeHeaderUnit(prefix: Buffer, supported: number = FORMAT_VERSION): HeaderUnit {
  const found = readHeaderLine(prefix)
  if (found === undefined) throw damaged(whatElse(prefix))
  return { ...decodeHeaderText(found.line, supported), end: found.end }
}

/** What a header line that is proven to be what was written says; throws as {@link decodeHeaderUnit}. */
export function decodeHeaderText(line: Buffer, supported: number = FORMAT_VERSION): Omit<HeaderUnit, 'end'> {
  const { format, version, salt, ...fields } = parse(line)
  if (format !== FORMAT || !Number.isSafeInteger(version)) throw damaged('it is of another program')
  if ((version as number) > supported) throw newer(version as number, supported)
  if (typeof salt !== 'string' || !/^[0-9a-f]{8}$/.test(salt)) throw damaged('its salt is missing')
  const header = headerOf({ version, ...fields }, version as number, supported)
  return { header, salt: Number.parseInt(salt, 16) }
}

/** Bytes of `"salt":"9f86d081"}` and the line end. */
const SALT_BYTES = 19

/**
 * Salt and length of the header unit of a log with this id and the current version, by its bytes alone: a listing asks
 * ten thousand of them. Undefined for anything else, which then needs a proper look.
 */
export function glanceHeaderUnit(
  head: Buffer,
  id: string,
): { readonly salt: number; readonly end: number } | undefined {
  const found = readHeaderLine(head)
  if (found === undefined) return undefined
  const { line, end } = found
  const start = Buffer.from(`{"format":"${FORMAT}","version":${FORMAT_VERSION},"id":${idJson(id)},`)
  if (line.compare(start, 0, start.length, 0, start.length) !== 0) return undefined
  const salt = /^"salt":"([0-9a-f]{8})"\}\n$/.exec(line.toString('latin1', line.length - SALT_BYTES))?.[1]
  return salt === undefined ? undefined : { salt: Number.parseInt(salt, 16), end }
}

function idJson(id: string): string {
  return escapeLineSeparators(JSON.stringify(id))
}

/** Says what stands there instead, where that is a common mistake. */
function whatElse(prefix: Buffer): string {
  if (prefix[0] === OPEN_BRACE) return 'the file is plain text, not zstd frames'
  if (prefix.length < 4 || prefix.readUInt32LE(0) !== FRAME_MAGIC) return 'no zstd frame starts here'
  const walk = walkFrame(prefix, 0)
  if (walk.kind === 'frame' && readCommit(prefix, walk.end, 0, walk.end) === undefined) {
    return 'its frame has no valid commit record behind it'
  }
  return 'its checksum does not match'
}

function parse(line: Buffer): { readonly [key: string]: unknown } {
  let value: unknown
  try {
    if (line.indexOf(LF) !== line.length - 1 || !isUtf8(line)) throw damaged('it is not one line of text')
    value = JSON.parse(line.toString('utf8'))
  } catch (error) {
    if (isSessionError(error)) throw error
    throw damaged('it is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw damaged('it is not an object')
  return value as { readonly [key: string]: unknown }
}

function headerOf(value: object, version: number, supported: number): SessionHeader {
  if (version < supported) {
    // An older header may have other fields: the upgrade chain looks at them.
    const { id, createdAt } = value as { readonly id?: unknown; readonly createdAt?: unknown }
    if (typeof id !== 'string' || !Number.isSafeInteger(createdAt)) throw damaged('it has no id or time')
    return value as SessionHeader
  }
  try {
    return checkHeader(value, 'CORRUPT')
  } catch (error) {
    // What was read is damaged, whatever the rule that it breaks.
    if (isSessionError(error) && error.code !== 'CORRUPT') throw damaged('it breaks a limit')
    throw error
  }
}

function damaged(why: string): SessionError {
  return new SessionError('CORRUPT', `the header of the log is damaged: ${why}`, { offset: 0 })
}

function newer(found: number, expected: number): SessionError {
  return new SessionError(
    'UNSUPPORTED_VERSION',
    `the log has format version ${found}, newer than ${expected}, the newest that this program reads`,
    { expected, found },
  )
}
