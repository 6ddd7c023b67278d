/**
 * The envelope check of a parsed record, written by hand: it runs for every event of every replay, and costs about one
 * percent of `JSON.parse` where a schema library costs twenty. It never looks into `data`: stored payloads are not
 * validated again, so that a changed schema cannot brick an old session.
 */
import { SessionError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import type { AnySessionEvent } from './event.ts'

/**
 * The record as an event, the same object. CORRUPT, with seq, expected and found, when it is not an envelope exactly:
 * every key known, seq and time safe integers, and seq equal to `expectedSeq` when one is given.
 */
export function decodeEvent(json: unknown, expectedSeq?: number): AnySessionEvent {
  if (!isRecord(json)) throw corrupt(expectedSeq, 'an object', kindOf(json))
  const { seq, time, type, ignorable, surface, sources } = json
  if (!isSeq(seq)) throw corrupt(expectedSeq, 'a seq', kindOf(seq))
  if (expectedSeq !== undefined && seq !== expectedSeq) throw wrongSeq(expectedSeq, seq)
  if (!Number.isSafeInteger(time)) throw corrupt(seq, 'an integer time', kindOf(time))
  if (typeof type !== 'string' || type === '') throw corrupt(seq, 'a type', kindOf(type))
  let known = 0
  for (const key in json) {
    switch (key) {
      case 'seq':
      case 'time':
      case 'type':
        break
      case 'data':
        known++
        break
      case 'ignorable':
        if (ignorable !== true) throw corrupt(seq, 'ignorable: true', kindOf(ignorable))
        break
      case 'surface':
        checkSurface(surface, seq)
        break
      case 'sources':
        checkSources(sources, seq)
        break
      default:
        throw corrupt(seq, 'the keys of an envelope', 'another key')
    }
  }
  if (known !== 1) throw corrupt(seq, 'data', 'none')
  return json as unknown as AnySessionEvent
}

/** Levels that the envelope adds to the depth of the data. */
const ENVELOPE_DEPTH = 1

/**
 * True when the JSON in `text` nests deeper than `limit`, by default what an event may, so that no consumer of the
 * parsed value can be made to overflow its stack. Strings and bytes are told apart from structure only where a cheap
 * count leaves a doubt; the text need not be valid.
 */
export function depthExceeds(text: string | Uint8Array, limit: number = LIMITS.depth + ENVELOPE_DEPTH): boolean {
  // Every level takes two characters at least.
  if (text.length <= 2 * limit) return false
  return typeof text === 'string' ? stringDepthExceeds(text, limit) : bytesDepthExceeds(text, limit)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** `[` and `{` differ in this bit only, and so do `]` and `}`. */
const CURLY_BIT = 0x20
const OPEN = 0x7b
const CLOSE = 0x7d

function bytesDepthExceeds(bytes: Uint8Array, limit: number): boolean {
  let opened = 0
  for (let at = 0; at < bytes.length; at++) if (((bytes[at] ?? 0) | CURLY_BIT) === OPEN) opened++
  return opened > limit && nestingExceeds(bytes.length, limit, (at) => bytes[at] ?? 0)
}

function stringDepthExceeds(text: string, limit: number): boolean {
  let opened = 0
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) | CURLY_BIT) === OPEN) opened++
  return opened > limit && nestingExceeds(text.length, limit, (at) => text.charCodeAt(at))
}

function nestingExceeds(length: number, limit: number, codeAt: (at: number) => number): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < length; at++) {
    const code = codeAt(at)
    if (inString) {
      if (code === BACKSLASH) at++
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if ((code | CURLY_BIT) === OPEN) {
      if (++depth > limit) return true
    } else if ((code | CURLY_BIT) === CLOSE) depth--
  }
  return false
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isSeq(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isRange(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && isSeq(value[0]) && isSeq(value[1]) && value[0] <= value[1]
}

function checkSurface(value: unknown, seq: number): void {
  if (isRecord(value) && Object.keys(value).length === 1) {
    const { replace } = value
    if (isRange(replace)) return
  }
  throw corrupt(seq, 'a surface replacement', kindOf(value))
}

function checkSources(value: unknown, seq: number): void {
  if (!Array.isArray(value) || !value.every(isRange)) throw corrupt(seq, 'sources as seq ranges', kindOf(value))
}

/** Says what a value is without saying what it holds. */
function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number') return `the number ${value}`
  return value === undefined ? 'nothing' : `a value of type ${typeof value}`
}

function corrupt(seq: number | undefined, expected: string, found: string): SessionError {
  const where = seq === undefined ? 'A stored event' : `The stored event ${seq}`
  return new SessionError('CORRUPT', `${where} is damaged: expected ${expected}, found ${found}`, {
    ...(seq === undefined ? {} : { seq }),
    expected,
    found,
  })
}

function wrongSeq(expected: number, found: number): SessionError {
  return new SessionError('CORRUPT', `Expected the event with seq ${expected}, found seq ${found}`, {
    seq: expected,
    expected,
    found,
  })
}
