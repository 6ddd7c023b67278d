import type { LogAssembler } from '../assembly/log-assembler.ts'
import type { Moment, TimeSource } from '../assembly/time-source.ts'
import type { SourceRecord } from '../source/decode-line.ts'
import { isCount, isRecord } from '../source/record-fields.ts'
import { endSeed, stepEnd, stepStart, turnEnd, turnStart } from './dsh-boundaries.ts'
import { chunkDelta } from './dsh-chunks.ts'
import { DshContext, type DshEntry } from './dsh-context.ts'
import { answer, call, chunk, result, userMessage } from './dsh-conversation.ts'
import { compaction, requestContext, requestHeader, requestHeaderDelta, title, todos } from './dsh-facts.ts'
import { PACKED_TYPES, packedLength, unpackRow } from './packed-rows.ts'

/** What becomes of each record type. All others are kept whole, as `dsh/...`. */
const MAPPINGS: ReadonlyMap<unknown, (context: DshContext, entry: DshEntry) => boolean> = new Map([
  ['turn/start', turnStart],
  ['turn/end', turnEnd],
  ['step/start', stepStart],
  ['step/end', stepEnd],
  ['session/end-seed', endSeed],
  ['user/message', userMessage],
  ['context/message', userMessage],
  ['steering/message', userMessage],
  ['assistant/message', answer],
  ['assistant/chunk', chunk],
  ['tool/call', call],
  ['tool/result', result],
  ['request/header', (context, entry) => requestHeader(context, entry, entry.fields.record('header'))],
  ['request/header-delta', requestHeaderDelta],
  ['request/context', requestContext],
  ['session/title', title],
  ['todo/write', todos],
  ['compact/start', compaction],
  ['compact/end', compaction],
  ['compaction/start', compaction],
  ['compaction/end', compaction],
])

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/** One log of DeepSeek Harness, record by record, in one pass and without looking ahead. */
export class DshMapper {
  readonly #context: DshContext
  readonly #times: TimeSource
  #expectedSeq = 0

  constructor(log: LogAssembler, times: TimeSource, seedParent: string | undefined) {
    this.#context = new DshContext(log, seedParent)
    this.#times = times
  }

  /** Seq of `session/forked`, once it was written. */
  get forkedAt(): number | undefined {
    return this.#context.forkedAt
  }

  accept(record: SourceRecord, line: number): void {
    const packed = PACKED_TYPES.has(record.type)
    const when = this.#times.at(record[packed ? 'time0' : 'time'])
    if (when.inferred) this.#context.log.report.missingTimes++
    const first = this.#seqOf(record[packed ? 'seq0' : 'seq'], packed ? (packedLength(record) ?? 1) : 1, line, when)
    if (packed) this.#chunks(record, first, when)
    else if (!this.#map(record, first, when)) this.#keep(record, first, when)
    else this.#context.log.report.mapped++
  }

  finish(): void {
    this.#context.log.finish(this.#times.now())
  }

  #seqOf(given: unknown, length: number, line: number, when: Moment): number {
    const expected = this.#expectedSeq
    const seq = isCount(given) ? given : expected
    if (seq !== expected) {
      this.#context.log.report.seqGap({ line, expected, found: seq })
      this.#context.log.note('seq-gap', undefined, { line, expected, found: seq }, when)
    }
    this.#expectedSeq = seq + length
    return seq
  }

  #keep(record: SourceRecord, sourceSeq: number, when: Moment): void {
    const name = String(record.type).replaceAll('/', '-')
    const type = NAME.test(name) && name.length <= 100 ? (`dsh/${name}` as const) : 'dsh/record'
    this.#context.log.report.kept++
    this.#context.seqs.set(sourceSeq, this.#context.log.keep(type, record, when))
  }

  #chunks(row: SourceRecord, first: number, when: Moment): void {
    const unpacked = unpackRow(row)
    const [head] = unpacked ?? []
    if (unpacked === undefined || head === undefined || !this.#context.isOpen(head.turn, head.step)) {
      this.#context.log.report.repairs.misplaced++
      this.#keep(row, first, when)
      return
    }
    this.#context.log.report.mapped++
    unpacked.forEach(({ time, chunk }, position) => {
      const at = position === 0 ? when : this.#times.at(time)
      const seq = this.#context.log.add('assistant/chunk', { ...this.#context.inStep(), ...chunkDelta(chunk) }, at)
      if (seq !== undefined) this.#context.seqs.set(first + position, seq)
    })
  }

  /** False when the record is to be kept whole. */
  #map(record: SourceRecord, sourceSeq: number, when: Moment): boolean {
    const mapping = MAPPINGS.get(record.type)
    return (
      mapping !== undefined &&
      isRecord(record.data) &&
      mapping(this.#context, this.#context.entry(record, sourceSeq, when))
    )
  }
}
