import { isUtf8 } from 'node:buffer'
import {
  type AnySessionEvent,
  type HeadReceipt,
  LIMITS,
  SessionError,
  type SessionHeader,
} from '@session-persistence/core'
import type { ImportedLog, LogReader, ReadLogsOptions } from '../reader.ts'
import { ReportBuilder } from '../report/report-builder.ts'
import type { LogFile } from '../source/log-file.ts'
import { isRecord } from '../source/record-fields.ts'
import { importedId } from '../source/session-ids.ts'
import { LineSplitter, type SourceLine } from '../source/split-lines.ts'
import {
  CANONICAL_MAGIC,
  CanonicalTally,
  type Complaint,
  type EndRecord,
  isEndRecord,
  parseHeaderLine,
  parseLine,
} from './canonical-format.ts'

/**
 * Our own export. It is strict where other formats are tolerant: a line that is not exactly what was written, and an end
 * that is missing or does not add up, are CORRUPT with line and offset.
 */
export const canonicalReader: LogReader = {
  name: 'canonical',

  detect(head: Buffer): number {
    return head.subarray(0, CANONICAL_MAGIC.length).toString('latin1') === CANONICAL_MAGIC ? 1 : 0
  },

  async *read(file: LogFile, options: ReadLogsOptions = {}): AsyncGenerator<ImportedLog, void, undefined> {
    const { signal, hashedIds = false, onProgress } = options
    const report = new ReportBuilder('canonical')
    report.bytes = file.size
    const pass = new CanonicalPass(file)
    for await (const page of pass.pages(signal, onProgress)) report.events += page.length
    report.lines = pass.lines
    report.records = pass.lines
    report.mapped = pass.lines
    const { header, knownHead } = pass
    if (header === undefined)
      throw new SessionError('CORRUPT', `${file.path} has no header`, { path: file.path, offset: 0 })
    const id = hashedIds ? importedId(header.id, 'canonical', await file.hash(signal), true) : header.id
    const events = {
      async *[Symbol.asyncIterator](): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
        yield* new CanonicalPass(file).pages(signal)
      },
    }
    yield { header: { ...header, id }, events, ...(knownHead && { knownHead }), report: report.build() }
  },
}

class CanonicalPass {
  header: SessionHeader | undefined
  lines = 0
  readonly #file: LogFile
  readonly #tally = new CanonicalTally()
  #sealed = false
  #end: EndRecord | undefined

  constructor(file: LogFile) {
    this.#file = file
  }

  get knownHead(): HeadReceipt | undefined {
    return this.#end?.known
  }

  async *pages(
    signal: AbortSignal | undefined,
    onProgress?: (bytes: number, total: number) => void,
  ): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
    const splitter = new LineSplitter(LIMITS.eventBytes)
    let bytes = 0
    for await (const chunk of this.#file.chunks(signal)) {
      const page = splitter.push(chunk).flatMap((line) => this.#accept(line))
      bytes += chunk.length
      onProgress?.(bytes, this.#file.size)
      if (page.length > 0) yield page
    }
    for (const line of splitter.end()) throw this.#complaint(line)('the file ends inside a line')
    if (this.header === undefined || (this.#sealed && this.#end === undefined)) {
      const place = { number: this.lines + 1, offset: this.#file.size }
      throw this.#complaint(place)('the file ends before its end record')
    }
  }

  #accept(line: SourceLine): AnySessionEvent[] {
    const damaged = this.#complaint(line)
    this.lines++
    if (line.piece !== undefined) throw damaged('the line is longer than an event may be')
    if (this.#end !== undefined) throw damaged('there is something behind the end record')
    if (!isUtf8(line.bytes)) throw damaged('the line is not UTF-8')
    const text = line.bytes.toString('utf8')
    if (this.header === undefined) {
      const { header, sealed } = parseHeaderLine(text, damaged)
      this.header = header
      this.#sealed = sealed
      this.#count(line)
      return []
    }
    const record = parseLine(text, this.#tally.nextSeq, damaged)
    if (isEndRecord(record)) {
      this.#checkEnd(record, damaged)
      this.#end = record
      return []
    }
    this.#count(line)
    this.#tally.event(record)
    return [record]
  }

  #count(line: SourceLine): void {
    this.#tally.line(line.bytes)
    this.#tally.line(NEWLINE)
  }

  #checkEnd(found: EndRecord, damaged: Complaint): void {
    const expected = this.#tally.end()
    for (const field of ['events', 'bytes', 'crc'] as const) {
      if (found[field] !== expected[field]) throw damaged(`the end record's ${field} differ from what stands before it`)
    }
    if (found.head?.seq !== expected.head.seq || found.head.crc !== expected.head.crc) {
      throw damaged('the end record names another last event')
    }
    if (Object.keys(found).some((key) => !(key in expected) && key !== 'known')) {
      throw damaged('the end record has a key too many')
    }
    if (found.known !== undefined && !isReceipt(found.known)) {
      throw damaged('the end record knows of an event without a receipt')
    }
  }

  #complaint({ number, offset }: { readonly number: number; readonly offset: number }): Complaint {
    const { path } = this.#file
    const seq = this.#tally.nextSeq
    return (what, cause) =>
      new SessionError('CORRUPT', `${path}, line ${number}, offset ${offset}: ${what}`, {
        path,
        offset,
        ...(this.header !== undefined && { seq, sessionId: this.header.id }),
        ...(cause !== undefined && { cause }),
      })
  }
}

function isReceipt(value: unknown): value is HeadReceipt {
  return isRecord(value) && Number.isSafeInteger(value.seq) && Number(value.seq) >= 0 && typeof value.crc === 'string'
}

const NEWLINE = Buffer.from('\n')
