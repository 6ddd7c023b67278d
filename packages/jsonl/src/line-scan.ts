/** Decodes lines forwards. Pure over bytes. */
import { isUtf8 } from 'node:buffer'
import {
  type AnySessionEvent,
  type ElidedChunks,
  isPackedRun,
  isSessionError,
  type PackedRun,
  type StoredRecord,
  unpackRunInto,
} from '@session-persistence/core'
import {
  type Damage,
  glanceChunks,
  type ScanOptions,
  type ScanPosition,
  type ScanResult,
  type Window,
} from '@session-persistence/file-log'
import { type ChunkEnvelope, readChunkEnvelope, readChunkEvent } from './chunk-line.ts'
import { viewOf } from './crc.ts'
import { contentEnd, FOREIGN_LINE_ENDS, LF, type LineFormat, type LineParts, parseRecord, splitLine } from './line.ts'

/** See `LogDialect.scan`. */
export function scanLines(
  format: LineFormat,
  { bytes, offset }: Window,
  position: ScanPosition,
  options: ScanOptions,
): ScanResult {
  const scan = new LineScan(format, bytes, position, options)
  const whole = bytes.lastIndexOf(LF) + 1
  const allUtf8 = isUtf8(bytes.subarray(0, whole))
  let at = 0
  let foreign = false
  let damage: Omit<Damage, 'offset'> | undefined
  while (at < whole && !scan.done) {
    const end = bytes.indexOf(LF, at)
    const stop = contentEnd(bytes, at, end)
    if (stop < end) foreign = true
    if (!allUtf8 && !isUtf8(bytes.subarray(at, end))) damage = scan.damaged('it is not UTF-8')
    else damage = scan.line(at, stop)
    if (damage !== undefined || scan.done) break
    at = end + 1
  }
  const result: ScanResult = {
    records: scan.records,
    end: offset + at,
    position: scan.position,
    ...(foreign ? { notes: [FOREIGN_LINE_ENDS] } : {}),
  }
  return damage === undefined ? result : { ...result, damage: { ...damage, offset: offset + at } }
}

class LineScan {
  readonly records: StoredRecord[] = []
  /** The next line lies behind the range. */
  done = false
  readonly #format: LineFormat
  readonly #bytes: Buffer
  readonly #view: DataView
  readonly #options: ScanOptions
  readonly #parts: LineParts = { recordEnd: 0, batch: -1 }
  readonly #chunk: ChunkEnvelope = { seq: 0, time: 0, turn: 0, step: 0, at: 0 }
  #nextSeq: number | undefined
  #batchSeq: number | undefined

  constructor(format: LineFormat, bytes: Buffer, position: ScanPosition, options: ScanOptions) {
    this.#format = format
    this.#bytes = bytes
    this.#view = viewOf(bytes)
    this.#options = options
    this.#nextSeq = position.nextSeq
    this.#batchSeq = position.batchSeq
  }

  get position(): ScanPosition {
    return { nextSeq: this.#nextSeq, batchSeq: this.#batchSeq }
  }

  /** Takes the line at `[start, end)`. Returns what is wrong with it. */
  line(start: number, end: number): Omit<Damage, 'offset'> | undefined {
    if (this.#nextSeq !== undefined && this.#nextSeq > this.#options.to) {
      this.done = true
      return undefined
    }
    if (!splitLine(this.#format, this.#bytes, start, end, this.#parts, this.#view)) {
      return this.damaged(this.#format.checksum === 'none' ? 'it is no whole record' : 'its checksum does not match')
    }
    // Only a checksum proves that the bytes are those that were written, and so that their shape tells their meaning.
    if (this.#format.checksum === 'none') return this.#anyLine(start)
    if (readChunkEnvelope(this.#bytes, this.#view, start, this.#chunk)) return this.#chunkLine(start)
    return this.#options.elideChunks ? this.#elidedLine(start) : this.#anyLine(start)
  }

  /** A packed run of which nobody needs the texts: they are not even parsed. */
  #elidedLine(start: number): Omit<Damage, 'offset'> | undefined {
    const chunks = glanceChunks(this.#bytes, start, this.#parts.recordEnd)
    if (chunks === undefined) return this.#anyLine(start)
    const { seq, count, turn, step } = chunks
    if (this.#nextSeq !== undefined && seq !== this.#nextSeq) return this.#wrongSeq(seq)
    const wrong = this.#advance(seq, seq + count - 1)
    if (wrong !== undefined) return wrong
    const first = Math.max(this.#options.from, seq)
    const last = Math.min(this.#options.to, seq + count - 1)
    if (first <= last) this.#elide(first, last - first + 1, turn, step)
    return undefined
  }

  #chunkLine(start: number): Omit<Damage, 'offset'> | undefined {
    const { seq, turn, step } = this.#chunk
    if (this.#nextSeq !== undefined && seq !== this.#nextSeq) return this.#wrongSeq(seq)
    const inRange = seq >= this.#options.from && seq <= this.#options.to
    if (!inRange || this.#options.elideChunks) {
      const wrong = this.#advance(seq, seq)
      if (wrong === undefined && inRange) this.#elide(seq, 1, turn, step)
      return wrong
    }
    const event = readChunkEvent(this.#bytes, this.#view, this.#chunk, this.#parts.recordEnd)
    if (event === undefined) return this.#anyLine(start)
    const wrong = this.#advance(seq, seq)
    if (wrong === undefined) this.records.push(event)
    return wrong
  }

  #anyLine(start: number): Omit<Damage, 'offset'> | undefined {
    let record: AnySessionEvent | PackedRun
    try {
      record = parseRecord(this.#bytes, start, this.#parts.recordEnd, undefined)
    } catch (error) {
      return this.damaged(isSessionError(error) ? error.message : 'it is not JSON')
    }
    const { seq } = record
    if (this.#nextSeq !== undefined && seq !== this.#nextSeq) return this.#wrongSeq(seq)
    const wrong = this.#advance(seq, isPackedRun(record) ? seq + record.v.length - 1 : seq)
    if (wrong !== undefined) return wrong
    if (isPackedRun(record)) this.#run(record)
    else if (seq >= this.#options.from && seq <= this.#options.to) this.records.push(record)
    return undefined
  }

  #run(record: PackedRun): void {
    const { from, to, elideChunks } = this.#options
    const first = Math.max(from, record.seq)
    const last = Math.min(to, record.seq + record.v.length - 1)
    if (first > last) return
    if (elideChunks) this.#elide(first, last - first + 1, record.run.turn, record.run.step)
    else unpackRunInto(record, first, last, this.records)
  }

  #elide(seq: number, count: number, turn: number, step: number): void {
    const before = this.records.at(-1) as (ElidedChunks & { count: number }) | AnySessionEvent | undefined
    if (before !== undefined && 'elided' in before && before.turn === turn && before.step === step)
      before.count += count
    else this.records.push({ elided: 'assistant/chunk', seq, count, turn, step })
  }

  /** To be asked before the records are taken: a line that stands in the wrong batch gives none. */
  #advance(first: number, last: number): Omit<Damage, 'offset'> | undefined {
    const { batch } = this.#parts
    if (batch !== -1) {
      if (batch > first || (this.#batchSeq !== undefined && batch !== this.#batchSeq)) {
        return this.damaged('its batch starts elsewhere')
      }
      this.#batchSeq = last + 1
    }
    this.#nextSeq = last + 1
    return undefined
  }

  damaged(why: string): Omit<Damage, 'offset'> {
    const seq = this.#nextSeq
    const what = seq === undefined ? 'a record' : `the record at seq ${seq}`
    return { message: `${what} is damaged: ${why}`, ...(seq === undefined ? {} : { seq }) }
  }

  #wrongSeq(found: number): Omit<Damage, 'offset'> {
    const seq = this.#nextSeq ?? 0
    return { message: `expected the record at seq ${seq}, found seq ${found}`, seq, found }
  }
}
