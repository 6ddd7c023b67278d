/**
 * The envelope check of a parsed record, written by hand: it runs for every event of every replay, and costs about one
 * percent of `JSON.parse` where a schema library costs twenty. It never looks into `data`: stored payloads are not
 * validated again, so that a changed schema cannot brick an old session.
 */
import { SessionError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import type { AnySessionEvent } from './event.ts'
import { nestsDeeper, SHALLOW_LENGTH_MAX } from './nesting-depth.ts'

/**
 * The record as an event, the same object. CORRUPT, with seq, expected and found, when it is not an envelope exactly:
 * every key known, seq and time safe integers, and seq equal to `expectedSeq` when one is given. `textLength` is the
 * length of the JSON that it was parsed from, in bytes or characters: with it, nesting past `LIMITS.depth` is CORRUPT
 * too, and a text too short to nest so deep is not searched.
 */
export function decodeEvent(json: unknown, expectedSeq?: number, textLength?: number): AnySessionEvent {
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
  if (textLength !== undefined && textLength > SHALLOW_LENGTH_MAX && nestsDeeper(json)) {
    throw corrupt(seq, `nesting within the limit depth (${LIMITS.depth})`, 'deeper')
  }
  return json as unknown as AnySessionEvent
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isSeq(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isSeqPair(value: unknown): value is readonly [number, number] {
  return Array.isArray(value) && value.length === 2 && isSeq(value[0]) && isSeq(value[1])
}

function isRange(value: unknown): boolean {
  return isSeqPair(value) && value[0] <= value[1]
}

function checkSurface(value: unknown, seq: number): void {
  if (isRecord(value) && Object.keys(value).length === 1) {
    const { replace } = value
    // Two live messages in surface order, which is not seq order once something was replaced.
    if (isSeqPair(replace)) return
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
