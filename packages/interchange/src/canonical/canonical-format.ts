import { crc32 } from 'node:zlib'
import {
  type AnySessionEvent,
  checkHeader,
  createUpgradeChain,
  decodeEvent,
  depthExceeds,
  type HeadReceipt,
  headReceipt,
  SessionError,
  type SessionHeader,
} from '@session-persistence/core'
import { isRecord } from '../source/record-fields.ts'

/** Written byte by byte in docs/interchange.md. Version of the frame around header and events, not of the events. */
export const CANONICAL_VERSION = 1

/** Not the word that stored logs begin with: the two must be told apart by their first bytes. */
const CANONICAL_FORMAT = 'session-persistence-export'

/** First bytes of every canonical file. */
export const CANONICAL_MAGIC: string = `{"format":"${CANONICAL_FORMAT}",`

/** What the last line says: how much stood before it, and what it was. */
export interface EndRecord {
  readonly events: number
  /** Bytes before this line. */
  readonly bytes: number
  /** CRC-32 of those bytes, 8 hexadecimal digits. */
  readonly crc: string
  readonly head: HeadReceipt
  /** `LogSource.knownHead`. */
  readonly known?: HeadReceipt
}

const upgrades = createUpgradeChain([])

/** The first line, without its newline. */
export function headerLine(header: SessionHeader): string {
  return JSON.stringify({ format: CANONICAL_FORMAT, version: CANONICAL_VERSION, end: true, header })
}

export function endLine(end: EndRecord): string {
  const { events, bytes, crc, head, known } = end
  return JSON.stringify({ end: { events, bytes, crc, head: receipt(head), ...(known && { known: receipt(known) }) } })
}

function receipt({ seq, crc }: HeadReceipt): HeadReceipt {
  return { seq, crc }
}

/** Counts what an export holds, on the way out and on the way in. */
export class CanonicalTally {
  #events = 0
  #bytes = 0
  #crc = 0
  #last: AnySessionEvent | undefined

  /** Bytes, or text that is written as UTF-8. */
  line(content: Buffer | string): void {
    this.#bytes += Buffer.byteLength(content)
    this.#crc = crc32(content, this.#crc)
  }

  event(event: AnySessionEvent): void {
    this.#events++
    this.#last = event
  }

  get nextSeq(): number {
    return this.#events
  }

  end(): EndRecord {
    const crc = this.#crc.toString(16).padStart(8, '0')
    return { events: this.#events, bytes: this.#bytes, crc, head: headReceipt(this.#last) }
  }
}

/** What is wrong with a line, in words without its content. */
export type Complaint = (what: string, cause?: unknown) => SessionError

/** The parsed first line. UNSUPPORTED_VERSION when frame or events are newer than this program. */
export function parseHeaderLine(
  text: string,
  damaged: Complaint,
): { readonly header: SessionHeader; readonly sealed: boolean } {
  const value = parse(text, damaged)
  if (!isRecord(value) || value.format !== CANONICAL_FORMAT) throw damaged('the first line is not a header')
  const { version, header, end } = value
  if (!Number.isSafeInteger(version)) throw damaged('the header has no format version')
  if (version !== CANONICAL_VERSION) {
    const message = `The export has format ${version}; this program supports version ${CANONICAL_VERSION}`
    throw new SessionError('UNSUPPORTED_VERSION', message, { expected: CANONICAL_VERSION, found: Number(version) })
  }
  if (isRecord(header) && Number.isSafeInteger(header.version)) upgrades.check(header.version)
  try {
    return { header: checkHeader(header, 'CORRUPT'), sealed: end === true }
  } catch (error) {
    throw damaged('the header is not one', error)
  }
}

/** An event, or the end record. */
export function parseLine(text: string, seq: number, damaged: Complaint): AnySessionEvent | EndRecord {
  const value = parse(text, damaged)
  if (isRecord(value) && Object.keys(value).length === 1 && isRecord(value.end))
    return value.end as unknown as EndRecord
  try {
    return decodeEvent(value, seq)
  } catch (error) {
    throw damaged(error instanceof SessionError ? error.message : 'the line is no event', error)
  }
}

export function isEndRecord(value: AnySessionEvent | EndRecord): value is EndRecord {
  return !('type' in value)
}

function parse(text: string, damaged: Complaint): unknown {
  if (depthExceeds(text)) throw damaged('the line is nested too deeply')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw damaged('the line is not JSON', error)
  }
}
