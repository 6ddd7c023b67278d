/** The end of a log of lines: its last complete batch, and the verdict on what follows (events-and-recovery, physical tail). */
import { type Damage, hasZeroedSector, type LogTail, type TailInput } from '@session-persistence/file-log'
import { LF, type LineFormat } from './line.ts'
import { type LineUnit, verifyLine } from './line-unit.ts'

/** A line of the window: `[start, end)` without its terminator. */
interface Line {
  readonly start: number
  readonly end: number
  /** Start of the next line. */
  readonly next: number
  /** Undefined when it does not verify. */
  readonly unit: LineUnit | undefined
}

interface Batch {
  readonly start: number
  /** Behind its last line's terminator, or behind the line where that is missing or damaged. */
  readonly end: number
  readonly terminated: boolean
  readonly firstSeq: number
  readonly lastSeq: number
  readonly lastTime: number
}

/** `more`: the window starts too late to tell. */
type Found<T> = T | 'more' | undefined

export function readLineTail(format: LineFormat, input: TailInput): LogTail | undefined {
  return new TailSearch(format, input).run()
}

class TailSearch {
  readonly #format: LineFormat
  readonly #input: TailInput
  readonly #bytes: Buffer

  constructor(format: LineFormat, input: TailInput) {
    this.#format = format
    this.#input = input
    this.#bytes = input.bytes
  }

  run(): LogTail | undefined {
    let disorder: Damage | undefined
    for (let at = this.#bytes.length; ; ) {
      const batch = this.#lastBatch(at)
      if (batch === 'more') return undefined
      if (batch === undefined) return this.#verdict(undefined, disorder)
      const before = this.#lineBefore(batch.start)
      if (before === 'more') return undefined
      const mismatch = this.#mismatch(batch, before)
      if (mismatch?.found === undefined) return this.#verdict(batch, disorder ?? mismatch)
      // A batch that does not belong here (a repeated one) is damage, and what stands before it is the end of the log.
      disorder = mismatch
      at = batch.start
    }
  }

  /** The last batch before `end` of which every line verifies. */
  #lastBatch(end: number): Found<Batch> {
    for (let at = end; ; ) {
      const line = this.#lineBefore(at)
      if (line === undefined || line === 'more') return line
      const batch =
        line.unit === undefined || line.unit.batch === -1 ? undefined : this.#batchEndingWith(line, line.unit)
      if (batch !== undefined) return batch
      at = line.start
    }
  }

  #batchEndingWith(last: Line, unit: LineUnit): Found<Batch> {
    let start = last.start
    for (let seq = unit.firstSeq; seq > unit.batch; ) {
      const line = this.#lineBefore(start)
      if (line === 'more') return 'more'
      if (line?.unit === undefined || line.unit.batch !== -1 || line.unit.lastSeq !== seq - 1) return undefined
      start = line.start
      seq = line.unit.firstSeq
      if (seq < unit.batch) return undefined
    }
    const terminated = last.next > last.end && this.#bytes[last.next - 1] === LF
    return {
      start,
      end: terminated ? last.next : last.end,
      terminated,
      firstSeq: unit.batch,
      lastSeq: unit.lastSeq,
      lastTime: unit.lastTime,
    }
  }

  /** The line that ends before `at`; undefined at the start of the log. */
  #lineBefore(at: number): Found<Line> {
    if (at === 0) return this.#input.whole ? undefined : 'more'
    const bytes = this.#bytes
    const terminated = bytes[at - 1] === LF
    const end = terminated ? at - 1 : at
    const start = end === 0 ? 0 : bytes.lastIndexOf(LF, end - 1) + 1
    if (start === 0 && !this.#input.whole) return 'more'
    const unit = verifyLine(this.#format, bytes, start, end)
    if (unit !== undefined || terminated || at !== bytes.length) return { start, end, next: at, unit }
    // At the end of the file one byte may stand where the terminator was.
    const shorter = verifyLine(this.#format, bytes, start, end - 1)
    if (shorter === undefined || this.#input.size !== this.#input.offset + at) return { start, end, next: at, unit }
    return { start, end: end - 1, next: at, unit: shorter }
  }

  /** Why the last batch does not continue what stands before it. */
  #mismatch(batch: Batch, before: Line | undefined): Damage | undefined {
    if (before === undefined) {
      if (batch.firstSeq === 0) return undefined
      return this.#damage(batch.start, 0, `expected the record at seq 0, found seq ${batch.firstSeq}`, batch.firstSeq)
    }
    if (before.unit === undefined) {
      return this.#damage(before.start, batch.firstSeq - 1, `the record before seq ${batch.firstSeq} is damaged`)
    }
    const expected = before.unit.lastSeq + 1
    if (expected !== batch.firstSeq) {
      return this.#damage(
        batch.start,
        expected,
        `expected the record at seq ${expected}, found seq ${batch.firstSeq}`,
        batch.firstSeq,
      )
    }
    if (before.unit.batch !== -1) return undefined
    return this.#damage(before.start, before.unit.firstSeq, 'the batch before the last one has no end')
  }

  #verdict(batch: Batch | undefined, mismatch?: Damage): LogTail {
    const { offset, size } = this.#input
    const end = batch?.end ?? 0
    const found = {
      end: offset + end,
      nextSeq: batch === undefined ? 0 : batch.lastSeq + 1,
      lastTime: batch?.lastTime,
      lastBatch:
        batch === undefined ? undefined : { offset: offset + batch.start, end: offset + end, firstSeq: batch.firstSeq },
      terminated: batch?.terminated ?? true,
    }
    if (mismatch !== undefined) return { ...found, verdict: { kind: 'corrupt', damage: mismatch } }
    const left = size - (offset + end)
    // One byte in the place of the terminator is the terminator, damaged.
    if (left === 0 || (!found.terminated && left === 1)) return { ...found, verdict: { kind: 'clean' } }
    const damage = this.#unexplained(end, found.nextSeq)
    if (damage !== undefined) return { ...found, verdict: { kind: 'corrupt', damage } }
    return { ...found, verdict: { kind: 'torn', offset: offset + end, bytes: left } }
  }

  /** The first thing behind the last batch that one torn batch, cut or with sectors never written, does not explain. */
  #unexplained(from: number, nextSeq: number): Damage | undefined {
    const { offset, size } = this.#input
    const bytes = this.#bytes
    let expected = nextSeq
    let holed = false
    for (let start = from; start < bytes.length; ) {
      const end = bytes.indexOf(LF, start)
      // The file ends inside this line, or nothing but NULs follows.
      if (end === -1) return undefined
      const unit = verifyLine(this.#format, bytes, start, end)
      if (unit === undefined) {
        if (!hasZeroedSector(bytes, start, end, offset, offset + from, size)) {
          return this.#damage(start, expected, `the record at seq ${expected} is damaged`)
        }
        holed = true
      } else {
        if (holed ? unit.firstSeq < expected : unit.firstSeq !== expected) {
          return this.#damage(
            start,
            expected,
            `expected the record at seq ${expected}, found seq ${unit.firstSeq}`,
            unit.firstSeq,
          )
        }
        // A batch that ends is the last one only if nothing but NULs follows.
        if (unit.batch !== -1 && (unit.batch !== nextSeq || end + 1 < bytes.length)) {
          return this.#damage(from, nextSeq, `the batch at seq ${nextSeq} is damaged, and not the last one`)
        }
        expected = unit.lastSeq + 1
      }
      start = end + 1
    }
    return undefined
  }

  #damage(at: number, seq: number, message: string, found?: number): Damage {
    return { offset: this.#input.offset + at, seq, message, ...(found === undefined ? {} : { found }) }
  }
}
