// The bytes of one session. The first line is the header, every other line one batch of events:
//
//   <CRC-32, 8 hex digits> <JSON> \n
//
// A batch is a line, so it is there whole or not at all. The checksum of a batch starts from that of the header, so a
// line of another session is no line of this one. Nothing in this file reads or writes.
import { crc32 } from 'node:zlib'
import {
  checkHeader,
  createUpgradeChain,
  decodeEvent,
  eventJson,
  isSessionError,
  SessionError,
} from '@session-persistence/core'

/** @typedef {import('@session-persistence/core').AnySessionEvent} AnySessionEvent */
/** @typedef {import('@session-persistence/core').SessionHeader} SessionHeader */

/**
 * What the bytes of a log say.
 *
 * @typedef {object} ScannedLog
 * @property {SessionHeader} header
 * @property {number} seed what the checksums of the batches start from
 * @property {readonly AnySessionEvent[]} events of all complete batches before the first damage
 * @property {number} end offset after the last complete batch
 * @property {{ offset: number, bytes: number } | undefined} torn what a crash left of a batch
 * @property {SessionError | undefined} damage the first damage, with offset and seq
 */

const NEWLINE = 0x0a
const CHECKSUM = 8
/** A medium writes no less at once. */
const SECTOR = 512

/** Refuses versions that are newer than this program, before anything else in the header is believed. */
const versions = createUpgradeChain([])

/**
 * @param {string} json
 * @param {number} seed
 */
function line(json, seed) {
  return Buffer.from(`${checksum(Buffer.from(json), seed)} ${json}\n`)
}

/**
 * @param {Buffer} bytes
 * @param {number} seed
 */
function checksum(bytes, seed) {
  return crc32(bytes, seed).toString(16).padStart(CHECKSUM, '0')
}

/** @param {SessionHeader} header */
export function encodeHeader(header) {
  const json = JSON.stringify(header)
  return { bytes: line(json, 0), seed: crc32(json) }
}

/**
 * @param {readonly AnySessionEvent[]} events
 * @param {number} seed
 */
export function encodeBatch(events, seed) {
  return line(`[${events.map(eventJson).join(',')}]`, seed)
}

/**
 * The log of session `id`. Throws CORRUPT where the header cannot be believed, UNSUPPORTED_VERSION where it is newer;
 * damage further on is part of the answer, since what stands before it is still good.
 *
 * @param {Buffer} bytes
 * @param {string} id
 * @returns {ScannedLog}
 */
export function scanLog(bytes, id) {
  const first = jsonAt(bytes, 0, 0)
  if (first === undefined) throw new SessionError('CORRUPT', 'the header is damaged', { sessionId: id, offset: 0 })
  const value = JSON.parse(first.json)
  versions.check(value?.version)
  const header = checkHeader(value, 'CORRUPT')
  if (header.id !== id)
    throw new SessionError('CORRUPT', 'the header names another session', { sessionId: id, offset: 0 })
  const seed = crc32(first.json)
  /** @type {AnySessionEvent[]} */
  const events = []
  let end = first.end
  while (end < bytes.length) {
    // A batch that was never acknowledged: written last, and not to its end or not everywhere.
    if (isUnfinished(bytes, end)) {
      return { header, seed, events, end, torn: { offset: end, bytes: bytes.length - end }, damage: undefined }
    }
    const batch = jsonAt(bytes, end, seed)
    const damage = batch === undefined ? damaged(id, end, events.length) : accept(events, batch.json, id, end)
    if (batch === undefined || damage !== undefined) return { header, seed, events, end, torn: undefined, damage }
    end = batch.end
  }
  return { header, seed, events, end, torn: undefined, damage: undefined }
}

/**
 * Whether the last line was not wholly written: its newline is missing, or, after a power cut, sectors in the middle of
 * it, which then read as zeros. JSON has no such byte.
 *
 * @param {Buffer} bytes
 * @param {number} offset
 */
function isUnfinished(bytes, offset) {
  const newline = bytes.indexOf(NEWLINE, offset)
  if (newline === -1) return true
  if (newline < bytes.length - 1) return false
  let holes = 0
  for (let start = offset; start < newline; start += SECTOR - (start % SECTOR)) {
    const sector = bytes.subarray(start, Math.min(newline, start + SECTOR - (start % SECTOR)))
    if (!sector.includes(0)) continue
    // Zeros in a part of a sector are damage: no power cut makes them.
    if (sector.some((byte) => byte !== 0)) return false
    holes += 1
  }
  return holes > 0
}

/**
 * The line that starts at `offset`; undefined unless it is complete and its checksum is right.
 *
 * @param {Buffer} bytes
 * @param {number} offset
 * @param {number} seed
 */
function jsonAt(bytes, offset, seed) {
  const newline = bytes.indexOf(NEWLINE, offset)
  if (newline === -1) return undefined
  const body = bytes.subarray(offset + CHECKSUM + 1, newline)
  const expected = Buffer.from(`${checksum(body, seed)} `)
  if (!bytes.subarray(offset, offset + CHECKSUM + 1).equals(expected)) return undefined
  return { json: body.toString('utf8'), end: newline + 1 }
}

/**
 * Adds the events of a batch; the damage when they do not continue the log. All or nothing.
 *
 * @param {AnySessionEvent[]} events
 * @param {string} json
 * @param {string} id
 * @param {number} offset
 */
function accept(events, json, id, offset) {
  try {
    const batch = /** @type {readonly unknown[]} */ (JSON.parse(json))
    events.push(...batch.map((event, index) => decodeEvent(event, events.length + index, json.length)))
    return undefined
  } catch (error) {
    if (!isSessionError(error)) throw error
    return new SessionError(error.code, error.message, { ...error, sessionId: id, offset })
  }
}

/**
 * @param {string} id
 * @param {number} offset
 * @param {number} seq
 */
function damaged(id, offset, seq) {
  return new SessionError('CORRUPT', `the batch at byte ${offset} is damaged`, { sessionId: id, offset, seq })
}
