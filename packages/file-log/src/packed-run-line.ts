/**
 * Packed runs read without a JSON parser. They hold nearly all events of a streaming log in one exact shape, and a third
 * of what `JSON.parse` takes for one goes into looking up its short texts; here each is cut out of the line. What has
 * another shape, or could be no JSON at all, is left to the general road.
 */
import { hasAt, integerAt, integerEnd } from './line-bytes.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const CLOSE_BRACE = 0x7d
/** Bytes below stand for themselves in no JSON text. */
const SPACE = 0x20
/** Bytes from here on are parts of a longer character. */
const WIDE = 0x80

const SEQ = Buffer.from('{"seq":')
const TIME = Buffer.from(',"time":')
const RUN = Buffer.from(',"run":')
/** Unescaped quotes do not occur inside a string, so this stands where the block ends and nowhere else. */
const GAPS = Buffer.from('},"dt":[')
const TEXTS = Buffer.from('],"v":["')

/** Stands at the start of no value. */
const NO_BLOCK = Buffer.of(0)

/** The block of the last run that was read, and its bytes up to the first gap: most runs are of the same as the one before. */
let blockBytes: Buffer = NO_BLOCK
let block: unknown
/** Behind what was read last. */
let behind = 0

/**
 * What `JSON.parse` makes of the record at `[start, end)`, where that is a packed run of the usual shape; undefined for
 * anything else. The bytes must be valid UTF-8. Whether the run is one exactly, `decodePackedRun` says, as always.
 */
export function parsePackedRunLine(bytes: Buffer, start: number, end: number): unknown {
  if (end - start < SEQ.length || !hasAt(bytes, start, SEQ)) return undefined
  const seq = integerAt(bytes, start + SEQ.length)
  if (Number.isNaN(seq) || !hasAt(bytes, integerEnd(), TIME)) return undefined
  const time = integerAt(bytes, integerEnd() + TIME.length)
  if (Number.isNaN(time) || !hasAt(bytes, integerEnd(), RUN)) return undefined
  if (!readBlock(bytes, integerEnd() + RUN.length, end)) return undefined
  const run = block
  const dt = readGaps(bytes, behind, end)
  if (dt === undefined || !hasAt(bytes, behind, TEXTS)) return undefined
  const v = readTexts(bytes, behind + TEXTS.length, end, dt.length + 1)
  if (v === undefined || bytes[behind] !== CLOSE_BRACE || behind + 1 !== end) return undefined
  return { seq, time, run, dt, v }
}

/** Leaves the value at `from` in {@link block}. */
function readBlock(bytes: Buffer, from: number, end: number): boolean {
  if (from + blockBytes.length > end || !hasAt(bytes, from, blockBytes)) {
    const gaps = bytes.indexOf(GAPS, from)
    if (gaps === -1 || gaps >= end) return false
    try {
      block = JSON.parse(bytes.toString('utf8', from, gaps + 1))
    } catch {
      blockBytes = NO_BLOCK
      block = undefined
      return false
    }
    blockBytes = Buffer.from(bytes.subarray(from, gaps + GAPS.length))
  }
  behind = from + blockBytes.length
  return true
}

/** Integers up to the closing bracket, which is left. */
function readGaps(bytes: Buffer, from: number, end: number): number[] | undefined {
  const gaps: number[] = []
  if (bytes[from] === CLOSE_BRACKET) {
    behind = from
    return gaps
  }
  for (let at = from; at < end; at = behind + 1) {
    const negative = bytes[at] === MINUS
    const gap = integerAt(bytes, negative ? at + 1 : at)
    // JSON.parse knows a negative zero; nothing here writes one.
    if (Number.isNaN(gap) || (negative && gap === 0)) return undefined
    gaps.push(negative ? -gap : gap)
    behind = integerEnd()
    const next = bytes[behind]
    if (next === CLOSE_BRACKET) return gaps
    if (next !== COMMA) return undefined
  }
  return undefined
}

/** Texts from behind the first quote on; at most `count`, since there are as many as the gaps tell. */
function readTexts(bytes: Buffer, from: number, end: number, count: number): string[] | undefined {
  const texts: string[] = []
  // Characters at the places of their bytes: right for every text without wide ones.
  const line = bytes.toString('latin1', from, end)
  let at = from
  while (texts.length < count) {
    const start = at
    let wide = 0
    let escaped = false
    for (; ; at++) {
      const code = bytes[at] ?? 0
      if (code === QUOTE) break
      if (code < SPACE || at >= end) return undefined
      wide |= code
      if (code !== BACKSLASH) continue
      escaped = true
      at++
    }
    if (escaped) {
      const text = unescaped(bytes, start - 1, at + 1)
      if (text === undefined) return undefined
      texts.push(text)
    } else texts.push(wide < WIDE ? line.slice(start - from, at - from) : bytes.toString('utf8', start, at))
    const next = bytes[at + 1]
    behind = at + 2
    if (next === CLOSE_BRACKET) return texts
    if (next !== COMMA || bytes[behind] !== QUOTE) return undefined
    at = behind + 1
  }
  return undefined
}

/** The value of the string at `[start, end)`, its quotes included. */
function unescaped(bytes: Buffer, start: number, end: number): string | undefined {
  try {
    return JSON.parse(bytes.toString('utf8', start, end)) as string
  } catch {
    return undefined
  }
}
