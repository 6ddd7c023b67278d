import type { AnySessionEvent } from '@session-persistence/core'
import { acceptLine } from '../assembly/lines-into-log.ts'
import { LogAssembler } from '../assembly/log-assembler.ts'
import { TimeSource } from '../assembly/time-source.ts'
import type { ImportedLog, LogReader, ReadLogsOptions } from '../reader.ts'
import { ReportBuilder } from '../report/report-builder.ts'
import { decodeLine, type SourceRecord } from '../source/decode-line.ts'
import { headRecords } from '../source/head-records.ts'
import type { LogFile } from '../source/log-file.ts'
import { readLines } from '../source/read-lines.ts'
import { isCount, isRecord } from '../source/record-fields.ts'
import { dsh } from './dsh-format.ts'
import { dshHeader, fitsHeader, isSessionRecord } from './dsh-header.ts'
import { DshMapper } from './dsh-mapper.ts'
import { PACKED_TYPES } from './packed-rows.ts'

/** Types that tell a log of this harness without its first line. */
const TELLING_TYPES: ReadonlySet<unknown> = new Set([
  ...PACKED_TYPES,
  'turn/start',
  'turn/end',
  'step/start',
  'user/message',
  'assistant/chunk',
  'assistant/message',
  'tool/call',
  'tool/result',
  'request/header',
  'agent/inbox/spliced',
])

/**
 * Session logs of DeepSeek Harness, format 0: a `session` line, then one event a line, raw or with runs of deltas packed
 * into one row. Read in one pass and in bounded memory; a first pass makes the report and the header.
 */
export const dshReader: LogReader = {
  name: 'dsh',

  detect(head: Buffer): number {
    const records = headRecords(head)
    if (isSessionRecord(records[0])) return 1
    if (head.subarray(0, 256).toString('latin1').startsWith('{"type":"session","') && head.includes('"createdAt":'))
      return 0.9
    return records.some(isWholeRecord) ? 0.7 : 0
  },

  async *read(file: LogFile, options: ReadLogsOptions = {}): AsyncGenerator<ImportedLog, void, undefined> {
    const { signal, hashedIds = false } = options
    const identity = { hash: await file.hash(signal), hashed: hashedIds }
    const session = await sessionRecord(file, signal)
    const report = new ReportBuilder('dsh')
    report.bytes = file.size
    const survey = new Pass(session, report)
    for await (const _page of survey.pages(file, options)) signal?.throwIfAborted()
    const header = dshHeader(session, identity, survey.mapper.forkedAt)
    const events = {
      async *[Symbol.asyncIterator](): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
        yield* new Pass(session, new ReportBuilder('dsh')).pages(file, { ...(signal && { signal }) })
      },
    }
    yield { header, events, report: report.build() }
  },
}

/** The log's header record: its first record, if it is one. */
async function sessionRecord(file: LogFile, signal: AbortSignal | undefined): Promise<SourceRecord | undefined> {
  for await (const lines of readLines(file, { signal })) {
    for (const line of lines) {
      const [first] = decodeLine(line, isWholeRecord).records
      if (first !== undefined) return isSessionRecord(first) ? first : undefined
    }
  }
  return undefined
}

/** A record that stands on its own, as opposed to an object inside one. */
function isWholeRecord(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { type, data } = value
  return isSessionRecord(value) || (TELLING_TYPES.has(type) && isRecord(data) && Object.keys(value)[0] === 'type')
}

class Pass {
  readonly mapper: DshMapper
  readonly #session: SourceRecord | undefined
  readonly #log: LogAssembler
  readonly #times: TimeSource

  constructor(session: SourceRecord | undefined, report: ReportBuilder) {
    const header = dshHeader(session, { hash: '', hashed: false }, 0)
    this.#session = session
    this.#times = new TimeSource(header.createdAt)
    this.#log = new LogAssembler(dsh, report)
    const seedParent = isCount(session?.seedLength) ? header.parent : undefined
    this.mapper = new DshMapper(this.#log, this.#times, seedParent)
  }

  async *pages(file: LogFile, options: ReadLogsOptions): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
    let sessionSeen = false
    for await (const lines of readLines(file, { signal: options.signal, onProgress: options.onProgress })) {
      for (const line of lines) {
        const decoded = decodeLine(line, isWholeRecord)
        acceptLine(this.#log, line, decoded, this.#times.now())
        for (const record of decoded.records) {
          if (sessionSeen || this.#session === undefined) this.mapper.accept(record, line.number)
          else {
            sessionSeen = true
            this.#acceptSession(record)
          }
        }
      }
      yield* this.#log.take()
    }
    this.mapper.finish()
    yield* this.#log.take()
  }

  #acceptSession(record: SourceRecord): void {
    this.#log.report.mapped++
    if (!fitsHeader(record)) this.#log.keep('dsh/session', record, this.#times.now())
  }
}
