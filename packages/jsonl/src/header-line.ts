/**
 * The first line of a log:
 *
 *     {"format":"session-persistence","version":1,"id":"…","createdAt":…,"messageFormat":"…",…,"checksum":"crc32","salt":"9f86d081","crc":"0a1b2c3d"}
 *
 * Between `version` and `checksum` stand the fields of the header in their order. The last three fields have this
 * order and width in every version, so that the line can be verified before it is understood. Its own CRC has no salt
 * and is always there.
 */

import { isUtf8 } from 'node:buffer'
import {
  checkHeader,
  FORMAT_VERSION,
  isSessionError,
  LIMITS,
  SessionError,
  type SessionHeader,
} from '@session-persistence/core'
import { escapeLineSeparators } from '@session-persistence/file-log'
import { BytePattern } from './byte-pattern.ts'
import { crc32Of, viewOf } from './crc.ts'
import {
  type Checksum,
  CRC_BYTES,
  contentEnd,
  FOREIGN_LINE_ENDS,
  hexAt,
  LF,
  type LineFormat,
  splitLine,
} from './line.ts'

const FORMAT = 'session-persistence'
const HEADER_FORMAT: LineFormat = { checksum: 'crc32', salt: 0 }
export const BYTE_ORDER_MARK: Buffer = Buffer.from([0xef, 0xbb, 0xbf])

/** U+2028 takes three bytes in the header's limit and six when escaped; then the fields added here, and a line end. */
export const HEADER_LINE_BYTES_MAX: number = 2 * LIMITS.headerBytes + 256

export interface HeaderLine {
  readonly header: SessionHeader
  readonly format: LineFormat
  /** Offset behind the line. */
  readonly end: number
  readonly notes: readonly string[]
}

export function encodeHeaderLine(header: SessionHeader, { checksum, salt }: LineFormat): Buffer {
  const { version, ...fields } = header
  const text = JSON.stringify({ format: FORMAT, version, ...fields, checksum, salt: hex(salt) })
  const body = Buffer.from(escapeLineSeparators(text.slice(0, -1)), 'utf8')
  return Buffer.concat([body, Buffer.from(`,"crc":"${hex(crc32Of(body, viewOf(body), 0, body.length, 0))}"}\n`)])
}

export function hex(value: number): string {
  return value.toString(16).padStart(8, '0')
}

/** Where the header line ends in the prefix of a file, and where it starts behind a byte-order mark; undefined without a line end. */
function findLine(prefix: Buffer): { readonly start: number; readonly end: number } | undefined {
  const start = prefix.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0
  const end = prefix.indexOf(LF, start)
  return end === -1 ? undefined : { start, end }
}

export function holdsHeaderLine(prefix: Buffer): boolean {
  return prefix.includes(LF)
}

/** CORRUPT for what is no header line; UNSUPPORTED_VERSION with both numbers for a newer one. */
export function decodeHeaderLine(prefix: Buffer, supported: number = FORMAT_VERSION): HeaderLine {
  const line = findLine(prefix)
  if (line === undefined) throw damaged('it has no end within the limit')
  const end = contentEnd(prefix, line.start, line.end)
  const parts = { recordEnd: 0, batch: -1 }
  if (!splitLine(HEADER_FORMAT, prefix, line.start, end, parts)) throw damaged('its checksum does not match')
  if (!isUtf8(prefix.subarray(line.start, end))) throw damaged('it is not UTF-8')
  const { format, version, checksum, salt, crc: _crc, ...fields } = parse(prefix, line.start, end)
  if (format !== FORMAT || !Number.isSafeInteger(version) || (version as number) < 0)
    throw damaged('it is of another program')
  if ((version as number) > supported) throw newer(version as number, supported)
  const saltBytes = Buffer.from(typeof salt === 'string' ? salt : '')
  const seed = saltBytes.length === 8 ? hexAt(saltBytes, 0) : -1
  if (seed === -1 || (checksum !== 'crc32' && checksum !== 'none')) throw damaged('its checksum fields are unknown')
  return {
    header: headerOf({ version, ...fields }, version as number, supported),
    format: { checksum: checksum satisfies Checksum, salt: seed },
    end: line.end + 1,
    notes: [
      ...(line.start > 0 ? ['the log starts with a byte-order mark: another tool has written this file'] : []),
      ...(end < line.end ? [FOREIGN_LINE_ENDS] : []),
    ],
  }
}

function parse(prefix: Buffer, start: number, end: number): { readonly [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(prefix.toString('utf8', start, end))
    return value as { readonly [key: string]: unknown }
  } catch {
    throw damaged('it is not JSON')
  }
}

/** An older header may have other fields: the upgrade chain looks at them. */
function headerOf(value: { readonly [key: string]: unknown }, version: number, supported: number): SessionHeader {
  if (version < supported) {
    const { id, createdAt } = value
    if (typeof id !== 'string' || !Number.isSafeInteger(createdAt)) throw damaged('it has no id or time')
    return value as unknown as SessionHeader
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

const QUOTE = 0x22
const BACKSLASH = 0x5c
const GLANCE_START = `{"format":"${FORMAT}","version":${FORMAT_VERSION},"id":`
const GLANCE_BYTES = new BytePattern(GLANCE_START)
/** What stands before the checksum of a header: `,"salt":"9f86d081"`. */
const SALT_BEFORE = new BytePattern(',"salt":"')
const SALT_BYTES = SALT_BEFORE.length + 9
const CHECKSUMS: readonly (readonly [Checksum, BytePattern])[] = (['crc32', 'none'] as const).map((checksum) => [
  checksum,
  new BytePattern(`,"checksum":"${checksum}"`),
])

/**
 * The salt and length of the header line of a log with this id and version, by its bytes alone; undefined for anything
 * else, which then needs a proper look.
 */
export function glanceHeaderLine(
  head: Buffer,
  view: DataView,
  id: string,
): { readonly format: LineFormat; readonly end: number } | undefined {
  const end = head.indexOf(LF)
  const idEnd = GLANCE_BYTES.isAt(view, 0) ? endOfText(head, GLANCE_BYTES.length, id) : -1
  if (idEnd === -1 || end < idEnd + SALT_BYTES + CRC_BYTES) return undefined
  const parts = { recordEnd: 0, batch: -1 }
  if (!splitLine(HEADER_FORMAT, head, 0, end, parts, view)) return undefined
  const saltAt = end - CRC_BYTES - SALT_BYTES
  if (!SALT_BEFORE.isAt(view, saltAt)) return undefined
  const salt = hexAt(head, saltAt + SALT_BEFORE.length)
  const checksum = CHECKSUMS.find(([, pattern]) => pattern.isAt(view, saltAt - pattern.length))?.[0]
  return salt === -1 || checksum === undefined ? undefined : { format: { checksum, salt }, end: end + 1 }
}

/** Where the JSON of `text` ends that stands at `at`; -1 when something else stands there. */
function endOfText(bytes: Buffer, at: number, text: string): number {
  const end = at + text.length + 2
  // Characters that stand for themselves, as nearly every id is made of, are compared one by one.
  let index = 0
  for (; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code > 0x7e || code === QUOTE || code === BACKSLASH) break
    if (bytes[at + 1 + index] !== code) return -1
  }
  if (index === text.length) return bytes[at] === QUOTE && bytes[end - 1] === QUOTE ? end : -1
  const json = Buffer.from(escapeLineSeparators(JSON.stringify(text)), 'utf8')
  return json.equals(bytes.subarray(at, at + json.length)) ? at + json.length : -1
}
