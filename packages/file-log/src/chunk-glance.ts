/**
 * What a line says about itself without decoding its texts: for folds that need no chunk, which are 96 % of the events of
 * a streaming log, and for what lies outside the range that is read. The checksums prove that the line is what was written, and what is written in
 * exactly this form can mean one thing only; every other line takes the general road.
 */

import { hasAt, integerAt, integerEnd } from './line-bytes.ts'

export interface ChunkGlance {
  readonly seq: number
  readonly count: number
  readonly turn: number
  readonly step: number
}

const COMMA = 0x2c
const CLOSE_BRACKET = 0x5d
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39

const SEQ = Buffer.from('{"seq":')
const TIME = Buffer.from(',"time":')
const RUN = Buffer.from(',"run":{"turn":')
const CHUNK = Buffer.from(',"type":"assistant/chunk","data":{"turn":')
const TYPE = Buffer.from(',"type":"')
const STEP = Buffer.from(',"step":')
const KIND = Buffer.from(',"kind":"')
/** Unescaped quotes do not occur inside a string, so this stands where the block ends and nowhere else. */
const GAPS = Buffer.from('},"dt":[')

/** The deltas of the line at `[start, end)`; undefined when it is not one of them, or not in the usual form. */
export function glanceChunks(bytes: Buffer, start: number, end: number): ChunkGlance | undefined {
  if (!hasAt(bytes, start, SEQ)) return undefined
  const seq = integerAt(bytes, start + SEQ.length)
  if (!hasAt(bytes, integerEnd(), TIME)) return undefined
  const time = integerAt(bytes, integerEnd() + TIME.length)
  const packed = hasAt(bytes, integerEnd(), RUN)
  if (!packed && !hasAt(bytes, integerEnd(), CHUNK)) return undefined
  const turn = integerAt(bytes, integerEnd() + (packed ? RUN : CHUNK).length)
  if (!hasAt(bytes, integerEnd(), STEP)) return undefined
  const step = integerAt(bytes, integerEnd() + STEP.length)
  // One NaN makes the sum NaN. Turns and steps count from one.
  if (Number.isNaN(seq + time + turn + step) || turn === 0 || step === 0 || !hasAt(bytes, integerEnd(), KIND))
    return undefined
  if (!packed) return { seq, count: 1, turn, step }
  const count = countRun(bytes, integerEnd(), end)
  return count === undefined ? undefined : { seq, count, turn, step }
}

/** What every event starts with. */
export interface EventEnvelope {
  seq: number
  time: number
}

/**
 * Fills `envelope` and returns true when the line at `start` starts as a single event of the usual form does. Negative times
 * take the general road.
 */
export function glanceEvent(bytes: Buffer, start: number, envelope: EventEnvelope): boolean {
  if (!hasAt(bytes, start, SEQ)) return false
  const seq = integerAt(bytes, start + SEQ.length)
  if (!hasAt(bytes, integerEnd(), TIME)) return false
  const time = integerAt(bytes, integerEnd() + TIME.length)
  if (Number.isNaN(seq + time) || !hasAt(bytes, integerEnd(), TYPE)) return false
  envelope.seq = seq
  envelope.time = time
  return true
}

/** One more than the gaps between the events of a run. */
function countRun(bytes: Buffer, from: number, end: number): number | undefined {
  const gaps = bytes.indexOf(GAPS, from)
  if (gaps === -1 || gaps + GAPS.length >= end) return undefined
  let count = 2
  for (let at = gaps + GAPS.length; at < end; at++) {
    const code = bytes[at] ?? 0
    if (code === CLOSE_BRACKET) return at === gaps + GAPS.length ? 1 : count
    if (code === COMMA) count++
    else if (code !== MINUS && (code < ZERO || code > NINE)) return undefined
  }
  return undefined
}
