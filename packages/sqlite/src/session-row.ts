/** The row that stands for a session: its number, its end, and what a listing is ordered by; pure. */
import { crc32 } from 'node:zlib'
import { checkHeader, FORMAT_VERSION, LIMITS, SessionError, type SessionHeader } from '@session-persistence/core'
import { asciiLine, codeUnits, crcOf, crcState, decimalLine, isShortAscii } from './columns-crc.ts'
import type { Row } from './connection.ts'
import { SESSION_NUMBER_MAX } from './schema.ts'

/**
 * Where a row belongs. `LIVE` rows are the sessions. Places that start with a dot are invisible and belong to whoever
 * holds the writer lock of the id: a log being built, one being deleted. Any other name is that of a kept original.
 */
export const LIVE = ''
export const STAGED = '.staged'
export const DELETED = '.deleted'

export interface SessionRow {
  readonly number: number
  readonly id: string
  readonly place: string
  /** Random, 32 bits: tells a session from another one that had its number or id before. */
  readonly salt: number
  readonly nextSeq: number
  /** Time of the last event; of an empty log, its creation. */
  readonly updatedAt: number
  /** Bytes of its records' texts. */
  readonly bytes: number
}

/** In the order in which {@link decodeSessionRow} takes them. */
export const SESSION_COLUMNS = 'number, id, place, salt, next_seq, updated_at, bytes, crc'

/** UTF-16, big end first: compares as listings do, by code unit, and holds U+0000, which TEXT does not. */
export function encodeId(id: string): Buffer {
  return Buffer.from(id, 'utf16le').swap16()
}

/** Undefined for bytes that are no id. */
export function decodeId(key: unknown): string | undefined {
  if (!(key instanceof Uint8Array) || key.length === 0 || key.length % 2 !== 0) return undefined
  return Buffer.from(key).swap16().toString('utf16le')
}

export function sessionCrc({ number, id, place, salt, nextSeq, updatedAt, bytes }: SessionRow): number {
  if (updatedAt < 0 || !isShortAscii(place)) {
    return crc32(encodeId(id), crc32(`${number}\n${place}\n${salt}\n${nextSeq}\n${updatedAt}\n${bytes}\n`))
  }
  let state = decimalLine(crcState(0), number)
  state = asciiLine(state, place)
  state = decimalLine(state, salt)
  state = decimalLine(state, nextSeq)
  state = decimalLine(state, updatedAt)
  state = decimalLine(state, bytes)
  return crcOf(codeUnits(state, id))
}

/** CORRUPT when a column has the wrong type or the checksum is wrong. */
export function decodeSessionRow(row: Row): SessionRow {
  const [number, key, place, salt, nextSeq, updatedAt, bytes, crc] = row
  const id = decodeId(key)
  const isTyped =
    isCount(number) && isCount(salt) && isCount(nextSeq) && Number.isSafeInteger(updatedAt) && isCount(bytes)
  if (id === undefined || typeof place !== 'string' || !isTyped) {
    throw new SessionError('CORRUPT', 'the session row has a column of the wrong type')
  }
  const session = { number, id, place, salt, nextSeq, updatedAt, bytes } as SessionRow
  if (sessionCrc(session) !== crc || session.number > SESSION_NUMBER_MAX) {
    throw new SessionError('CORRUPT', 'the checksum of the session row is wrong')
  }
  return session
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

export function headerCrc(header: string, salt: number): number {
  return crc32(header, salt)
}

/**
 * The header of a verified session row. UNSUPPORTED_VERSION for a newer format, before anything else is asked of it;
 * CORRUPT when it is damaged, missing, or another session's.
 */
export function decodeHeader(row: Row | undefined, session: SessionRow): SessionHeader {
  const [text, crc] = row ?? []
  // Longer ones are not even parsed: a character takes one byte at least.
  if (typeof text !== 'string' || text.length > LIMITS.headerBytes || headerCrc(text, session.salt) !== crc) {
    throw new SessionError('CORRUPT', 'the session header is damaged')
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new SessionError('CORRUPT', 'the session header is not JSON')
  }
  const version = typeof value === 'object' && value !== null && 'version' in value ? value.version : undefined
  if (typeof version === 'number' && version > FORMAT_VERSION) {
    throw new SessionError(
      'UNSUPPORTED_VERSION',
      `the session has format ${version}; this program supports ${FORMAT_VERSION}`,
      { expected: FORMAT_VERSION, found: version },
    )
  }
  const header = checkHeader(value, 'CORRUPT')
  if (header.id !== session.id) throw new SessionError('CORRUPT', "the session header is another session's")
  return header
}
