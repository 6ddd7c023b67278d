/** Reads the lines of one frame's content, which its checksums have proven to be what was written. Pure over bytes. */
import { isUtf8 } from 'node:buffer'
import {
  type AnySessionEvent,
  decodeEvent,
  decodePackedRun,
  type ElidedChunks,
  isElided,
  isPackedRun,
  isSessionError,
  type PackedRun,
  type StoredRecord,
  unpackRunInto,
} from '@session-persistence/core'
import {
  type EventEnvelope,
  glanceChunks,
  glanceEvent,
  parsePackedRunLine,
  type ScanOptions,
} from '@session-persistence/file-log'

const LF = 0x0a

/** What the commit record says about the content. */
export interface FrameContent {
  readonly firstSeq: number
  readonly events: number
  readonly lastTime: number
}

/** Adds the records of the content in range to `records`; returns what is wrong with it, if anything. */
export function readLines(
  content: Buffer,
  expected: FrameContent,
  options: ScanOptions,
  records: StoredRecord[],
): string | undefined {
  if (!isUtf8(content)) return 'it is not UTF-8'
  return new LineReader(content, options, records).read(0, content.length, expected)
}

/** What content says of itself, decoded as a whole, where no commit record does; undefined when it is not what was written. */
export function contentOf(content: Buffer): FrameContent | undefined {
  const first = /^\{"seq":(\d{1,16}),/.exec(content.toString('latin1', 0, 32))?.[1]
  if (first === undefined) return undefined
  const firstSeq = Number(first)
  const records: StoredRecord[] = []
  // The range is open at its end; only the count is not known yet.
  readLines(content, { firstSeq, events: Number.MAX_SAFE_INTEGER - firstSeq, lastTime: 0 }, EVERYTHING, records)
  const last = records.at(-1)
  if (last === undefined || isElided(last)) return undefined
  const found = { firstSeq, events: last.seq - firstSeq + 1, lastTime: last.time }
  return readLines(content, found, EVERYTHING, []) === undefined ? found : undefined
}

const EVERYTHING: ScanOptions = { from: 0, to: Number.MAX_SAFE_INTEGER, elideChunks: false }

/** Reads the contents of frames that lie one behind the other in bytes that are valid UTF-8. */
export class LineReader {
  readonly #bytes: Buffer
  /** Of the line that is passed over: filled again for each. */
  readonly #event: EventEnvelope = { seq: 0, time: 0 }
  readonly #options: ScanOptions
  readonly #records: StoredRecord[]
  #nextSeq = 0
  #endSeq = 0

  constructor(bytes: Buffer, options: ScanOptions, into: StoredRecord[]) {
    this.#bytes = bytes
    this.#options = options
    this.#records = into
  }

  /** The content at `[start, end)`; returns what is wrong with it, if anything. */
  read(start: number, end: number, { firstSeq, events, lastTime }: FrameContent): string | undefined {
    if (end <= start || this.#bytes[end - 1] !== LF) return 'its last line has no end'
    this.#nextSeq = firstSeq
    this.#endSeq = firstSeq + events
    let time: number
    try {
      time = this.#lines(start, end)
    } catch (error) {
      return isSessionError(error) ? error.message : 'a line is not JSON'
    }
    if (this.#nextSeq !== this.#endSeq) return `it ends at seq ${this.#nextSeq - 1}, not ${this.#endSeq - 1}`
    if (!Number.isNaN(time) && time !== lastTime) return 'its last event has another time'
    return undefined
  }

  /** Returns the time of the last event, or NaN where its line was passed over. */
  #lines(start: number, end: number): number {
    const { from, to, elideChunks } = this.#options
    const bytes = this.#bytes
    const skips = elideChunks || this.#nextSeq < from || this.#endSeq - 1 > to
    let time = Number.NaN
    for (let at = start; at < end; ) {
      const lineEnd = bytes.indexOf(LF, at)
      time = skips && this.#skip(at, lineEnd) ? Number.NaN : this.#line(at, lineEnd)
      at = lineEnd + 1
    }
    return time
  }

  /** Passes over a line whose records lie outside the range or need not be decoded. */
  #skip(start: number, end: number): boolean {
    const { from, to, elideChunks } = this.#options
    const first = this.#nextSeq
    const outside = first < from || first > to
    if (!elideChunks && !outside) return false
    const found = glanceChunks(this.#bytes, start, end)
    if (found === undefined) {
      if (!outside || !glanceEvent(this.#bytes, start, this.#event) || this.#event.seq !== first) return false
      this.#nextSeq = first + 1
      return true
    }
    if (found.seq !== first) return false
    const last = first + found.count - 1
    if (!elideChunks && last >= from && first <= to) return false
    if (elideChunks) this.#elide(Math.max(from, first), Math.min(to, last), found.turn, found.step)
    this.#nextSeq = last + 1
    return true
  }

  /** Takes one line; returns the time of its last event. */
  #line(start: number, end: number): number {
    const run = parsePackedRunLine(this.#bytes, start, end)
    if (run !== undefined) return this.#run(decodePackedRun(run, this.#nextSeq))
    const text = this.#bytes.toString('utf8', start, end)
    const json: unknown = JSON.parse(text)
    if (isPackedRun(json)) return this.#run(decodePackedRun(json, this.#nextSeq))
    const event = decodeEvent(json, this.#nextSeq, text.length)
    if (event.seq >= this.#options.from && event.seq <= this.#options.to) this.#records.push(event)
    this.#nextSeq++
    return event.time
  }

  #run(run: PackedRun): number {
    const { from, to, elideChunks } = this.#options
    const first = Math.max(from, run.seq)
    const last = Math.min(to, run.seq + run.v.length - 1)
    this.#nextSeq = run.seq + run.v.length
    if (!elideChunks) return unpackRunInto(run, first, last, this.#records)
    this.#elide(first, last, run.run.turn, run.run.step)
    let time = run.time
    for (const gap of run.dt) time += gap
    return time
  }

  #elide(first: number, last: number, turn: number, step: number): void {
    if (first > last) return
    const count = last - first + 1
    const before = this.#records.at(-1) as (ElidedChunks & { count: number }) | AnySessionEvent | undefined
    if (before !== undefined && 'elided' in before && before.turn === turn && before.step === step) {
      before.count += count
    } else this.#records.push({ elided: 'assistant/chunk', seq: first, count, turn, step })
  }
}
