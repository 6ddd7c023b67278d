import type { AppendOptions, SeqRange, SurfaceReplacement } from '@session-persistence/core'
import type { Imported } from '../assembly/event-inputs.ts'
import type { LogAssembler } from '../assembly/log-assembler.ts'
import { seqRanges } from '../assembly/seq-ranges.ts'
import type { Moment, TimeSource } from '../assembly/time-source.ts'
import type { SourceRecord } from '../source/decode-line.ts'
import { isCount, isRecord, RecordFields } from '../source/record-fields.ts'
import { chunkDelta } from './dsh-chunks.ts'
import { answerOf, resultOf, userMessageOf } from './dsh-messages.ts'
import { turnEndReason } from './dsh-turn-end.ts'
import { PACKED_TYPES, packedLength, unpackRow } from './packed-rows.ts'
import { withHeaderDelta } from './request-header.ts'
import { SeqMap } from './seq-map.ts'

/** A record on its way: what is left of it, where its event comes from, and what it becomes when nothing fits. */
interface Entry {
  readonly record: SourceRecord
  readonly fields: RecordFields
  readonly when: Moment
  readonly options: AppendOptions
  /** What of the envelope has no place in ours. */
  readonly envelope: SourceRecord
  readonly placed: (seq: number) => void
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/** One log of DeepSeek Harness, record by record, in one pass and without looking ahead. */
export class DshMapper {
  readonly #log: LogAssembler
  readonly #times: TimeSource
  /** Id of the parent when the header says how long the seed is: only then is its end a fork. */
  readonly #seedParent: string | undefined
  readonly #seqs = new SeqMap()
  #expectedSeq = 0
  #turn: unknown
  #step: unknown
  #header: SourceRecord | undefined
  /** Seq of `session/forked`, once it was written. */
  forkedAt: number | undefined

  constructor(log: LogAssembler, times: TimeSource, seedParent: string | undefined) {
    this.#log = log
    this.#times = times
    this.#seedParent = seedParent
  }

  accept(record: SourceRecord, line: number): void {
    const packed = PACKED_TYPES.has(record.type)
    const when = this.#times.at(record[packed ? 'time0' : 'time'])
    if (when.inferred) this.#log.report.missingTimes++
    const first = this.#seqOf(record[packed ? 'seq0' : 'seq'], packed ? (packedLength(record) ?? 1) : 1, line, when)
    if (packed) this.#chunks(record, first, when)
    else if (!this.#map(this.#entry(record, first, when))) this.#keep(record, first, when)
    else this.#log.report.mapped++
  }

  finish(): void {
    this.#log.finish(this.#times.now())
  }

  #seqOf(given: unknown, length: number, line: number, when: Moment): number {
    const expected = this.#expectedSeq
    const seq = isCount(given) ? given : expected
    if (seq !== expected) {
      this.#log.report.seqGap({ line, expected, found: seq })
      this.#log.note('seq-gap', undefined, { line, expected, found: seq }, when)
    }
    this.#expectedSeq = seq + length
    return seq
  }

  #keep(record: SourceRecord, sourceSeq: number, when: Moment): void {
    const name = String(record.type).replaceAll('/', '-')
    const type = NAME.test(name) && name.length <= 100 ? (`dsh/${name}` as const) : 'dsh/record'
    this.#log.report.kept++
    this.#seqs.set(sourceSeq, this.#log.keep(type, record, when))
  }

  #chunks(row: SourceRecord, first: number, when: Moment): void {
    const unpacked = unpackRow(row)
    const [head] = unpacked ?? []
    if (unpacked === undefined || head === undefined || !this.#isOpen(head.turn, head.step)) {
      this.#log.report.repairs.misplaced++
      this.#keep(row, first, when)
      return
    }
    this.#log.report.mapped++
    unpacked.forEach(({ time, chunk }, position) => {
      const at = position === 0 ? when : this.#times.at(time)
      const seq = this.#log.add('assistant/chunk', { ...this.#inStep(), ...chunkDelta(chunk) }, at)
      if (seq !== undefined) this.#seqs.set(first + position, seq)
    })
  }

  #entry(record: SourceRecord, sourceSeq: number, when: Moment): Entry {
    const { type: _type, seq, time, data, surfaceOp, sourceEventSeqs, ...others } = record
    const envelope: Record<string, unknown> = { ...others }
    if (seq !== undefined && !isCount(seq)) envelope.seq = seq
    if (time !== undefined && when.inferred) envelope.time = time
    const surface = this.#surface(surfaceOp)
    if (surface === undefined && surfaceOp !== undefined && surfaceOp !== 'append') envelope.surfaceOp = surfaceOp
    let sources: readonly SeqRange[] = []
    if (Array.isArray(sourceEventSeqs)) {
      const found = this.#seqs.ranges(sourceEventSeqs)
      sources = found.ranges
      if (found.missing.length > 0) {
        envelope.missingSources = found.missing.every(isCount) ? seqRanges(found.missing) : found.missing
      }
    } else if (sourceEventSeqs !== undefined) envelope.sourceEventSeqs = sourceEventSeqs
    return {
      record,
      fields: new RecordFields(isRecord(data) ? data : {}),
      when,
      options: { sources, ...(surface !== undefined && { surface }) },
      envelope,
      placed: (seq) => this.#seqs.set(sourceSeq, seq),
    }
  }

  #surface(operation: unknown): SurfaceReplacement | undefined {
    if (!isRecord(operation) || operation.op !== 'replace') return undefined
    const start = isCount(operation.start) ? this.#seqs.get(operation.start) : undefined
    const end = isCount(operation.end) ? this.#seqs.get(operation.end) : undefined
    return start === undefined || end === undefined ? undefined : { replace: [start, end] }
  }

  /** What is left of a record after its mapping took what it needs. */
  #imported({ fields, envelope }: Entry): Imported {
    const rest = { ...fields.rest(), ...envelope }
    return Object.keys(rest).length === 0 ? {} : { imported: rest }
  }

  /** The record's own turn and step, where they say no more than where it stands. */
  #dropPlace({ fields }: Entry): void {
    fields.drop('turn', this.#turn)
    fields.drop('step', this.#step)
  }

  #isOpen(turn: unknown, step: unknown): boolean {
    return this.#log.place.step !== undefined && turn === this.#turn && step === this.#step
  }

  #inStep(): { readonly turn: number; readonly step: number } {
    return { turn: this.#log.place.turn ?? 0, step: this.#log.place.step ?? 0 }
  }

  /** False when the record is to be kept whole. */
  #map(entry: Entry): boolean {
    if (!isRecord(entry.record.data)) return false
    switch (entry.record.type) {
      case 'turn/start':
        return this.#turnStart(entry)
      case 'turn/end':
        return this.#turnEnd(entry)
      case 'step/start':
        return this.#stepStart(entry)
      case 'step/end':
        return this.#stepEnd(entry)
      case 'user/message':
      case 'context/message':
      case 'steering/message':
        return this.#userMessage(entry)
      case 'assistant/message':
        return this.#answer(entry)
      case 'assistant/chunk':
        return this.#chunk(entry)
      case 'tool/call':
        return this.#call(entry)
      case 'tool/result':
        return this.#result(entry)
      case 'request/header':
        return this.#requestHeader(entry, entry.fields.record('header'))
      case 'request/header-delta':
        return this.#requestHeaderDelta(entry)
      case 'request/context':
        return this.#requestContext(entry)
      case 'session/title':
        return this.#title(entry)
      case 'todo/write':
        return this.#todos(entry)
      case 'compact/start':
      case 'compaction/start':
      case 'compact/end':
      case 'compaction/end':
        return this.#compaction(entry)
      case 'session/end-seed':
        return this.#endSeed(entry)
      default:
        return false
    }
  }

  /** Reports the seq of an event that was added; one that the grammar refused is kept aside. */
  #added(entry: Entry, seq: number | undefined): boolean {
    if (seq === undefined) this.#log.report.repairs.misplaced++
    else entry.placed(seq)
    return seq !== undefined
  }

  #turnStart(entry: Entry): boolean {
    const { fields, when } = entry
    this.#turn = fields.peek('turn')
    this.#step = undefined
    fields.drop('turn', this.#log.place.turnCount + 1)
    const trigger = fields.take('trigger')
    return this.#added(
      entry,
      this.#log.startTurn(when, { ...(trigger !== undefined && { trigger }), ...this.#imported(entry) }),
    )
  }

  #turnEnd(entry: Entry): boolean {
    if (this.#log.place.turn === undefined) return this.#added(entry, undefined)
    const given = entry.fields.peek('reason')
    const reason = turnEndReason(entry.fields)
    this.#dropPlace(entry)
    const plain = isRecord(given) && Object.keys(given).length === 1 && given.kind === reason.kind
    const imported = { ...entry.envelope, ...(!plain && given !== undefined && { reason: given }) }
    const seq = this.#log.endTurn(reason, entry.when, this.#imported({ ...entry, envelope: imported }))
    this.#turn = undefined
    this.#step = undefined
    return this.#added(entry, seq)
  }

  #stepStart(entry: Entry): boolean {
    this.#log.ensureTurn(entry.when)
    this.#step = entry.fields.peek('step')
    entry.fields.drop('turn', this.#turn)
    entry.fields.drop('step', this.#log.place.stepCount + 1)
    return this.#added(entry, this.#log.startStep(entry.when, this.#imported(entry)))
  }

  #stepEnd(entry: Entry): boolean {
    this.#dropPlace(entry)
    const seq = this.#log.endStep(entry.when, this.#imported(entry))
    this.#step = undefined
    return this.#added(entry, seq)
  }

  #userMessage(entry: Entry): boolean {
    this.#dropPlace(entry)
    const input = userMessageOf(entry.fields, entry.record.type)
    if (input === undefined) return false
    const { message, source } = input
    const data = { message, ...(source !== undefined && { source }), ...this.#imported(entry) }
    this.#log.userMessage(data, entry.when, entry.placed, entry.options)
    return true
  }

  #answer(entry: Entry): boolean {
    this.#dropPlace(entry)
    const answer = answerOf(entry.fields)
    if (answer === undefined) return false
    return this.#added(entry, this.#log.answer({ ...answer, ...this.#imported(entry) }, entry.when, entry.options))
  }

  #chunk(entry: Entry): boolean {
    const { fields, when } = entry
    if (!this.#isOpen(fields.peek('turn'), fields.peek('step'))) return this.#added(entry, undefined)
    this.#dropPlace(entry)
    const chunk = fields.record('chunk')
    if (chunk === undefined) return false
    const data = { ...this.#inStep(), ...chunkDelta(chunk), ...this.#imported(entry) }
    return this.#added(entry, this.#log.add('assistant/chunk', data, when))
  }

  #call(entry: Entry): boolean {
    this.#dropPlace(entry)
    const { fields } = entry
    const callId = fields.string('callId')
    const name = fields.string('name')
    if (callId === undefined || name === undefined) return false
    const call = { callId, name, arguments: fields.take('arguments') ?? null, ...this.#imported(entry) }
    return this.#added(entry, this.#log.beginCall(call, entry.when, entry.options))
  }

  #result(entry: Entry): boolean {
    this.#dropPlace(entry)
    const result = resultOf(entry.fields)
    if (result === undefined) return false
    this.#log.result({ ...result, ...this.#imported(entry) }, entry.when, entry.placed, entry.options)
    return true
  }

  #requestHeader(entry: Entry, header: SourceRecord | undefined): boolean {
    if (header === undefined) return false
    const { config, system, tools, ...others } = header
    const model = isRecord(config) ? config.model : undefined
    if (typeof model !== 'string') return false
    this.#header = header
    const more = Object.keys(others).length === 0 ? {} : { header: others }
    const data = {
      ...this.#log.place.inTurn,
      model,
      config,
      ...(system !== undefined && { system }),
      ...(tools !== undefined && { tools }),
      ...this.#imported({ ...entry, envelope: { ...more, ...entry.envelope } }),
    }
    return this.#added(entry, this.#log.add('request/header', data, entry.when, entry.options))
  }

  /** Becomes a full snapshot, as core's header always is; the delta itself stays beside it. */
  #requestHeaderDelta(entry: Entry): boolean {
    const delta = entry.fields.rest()
    const header = this.#header && delta && withHeaderDelta(this.#header, delta)
    return header === undefined ? this.#added(entry, undefined) : this.#requestHeader(entry, header)
  }

  #requestContext(entry: Entry): boolean {
    const { fields } = entry
    this.#dropPlace(entry)
    const facts = fields.rest() ?? {}
    const window = facts.contextWindow
    if ((window !== undefined && !isCount(window)) || 'turn' in facts || 'step' in facts) return false
    const rest = Object.keys(entry.envelope).length === 0 ? {} : { imported: entry.envelope }
    const data = { ...this.#log.place.inTurn, ...facts, ...rest } as { readonly [fact: string]: unknown }
    return this.#added(entry, this.#log.add('request/context', data, entry.when, entry.options))
  }

  #title(entry: Entry): boolean {
    const { fields, when } = entry
    const title = fields.string('title')
    if (title === undefined) return false
    const given = fields.peek('source')
    const source = isRecord(given) && typeof given.kind === 'string' ? given.kind : undefined
    if (isRecord(given) && source !== undefined && Object.keys(given).length === 1) fields.take('source')
    const seqs = fields.peek('messageSeqs')
    const found = Array.isArray(seqs) ? this.#seqs.ranges(seqs) : undefined
    if (found?.missing.length === 0) fields.take('messageSeqs')
    const data = { title, ...(source !== undefined && { source }), ...this.#imported(entry) }
    const seq = this.#log.add('session/title', data, when, { sources: found?.ranges ?? [] })
    return this.#added(entry, seq)
  }

  #todos(entry: Entry): boolean {
    const todos = entry.fields.peek('todos')
    if (!Array.isArray(todos)) return false
    entry.fields.take('todos')
    this.#dropPlace(entry)
    const data = { ...this.#log.place.inTurn, todos, ...this.#imported(entry) }
    return this.#added(entry, this.#log.add('todo/write', data, entry.when, entry.options))
  }

  #compaction(entry: Entry): boolean {
    const { fields, when } = entry
    this.#dropPlace(entry)
    const id = fields.string('compactionId')
    const place = { ...this.#log.place.inTurn, ...(id !== undefined && { compactionId: id }) }
    if (String(entry.record.type).endsWith('/start')) {
      return this.#added(entry, this.#log.add('compaction/start', { ...place, ...this.#imported(entry) }, when))
    }
    const outcome = fields.peek('error') === undefined ? 'completed' : 'failed'
    return this.#added(entry, this.#log.add('compaction/end', { ...place, outcome, ...this.#imported(entry) }, when))
  }

  #endSeed(entry: Entry): boolean {
    if (this.#seedParent === undefined || this.forkedAt !== undefined) return false
    const at = this.#log.nextSeq - 1
    const data = { parent: this.#seedParent, at, reason: 'seed', ...this.#imported(entry) }
    this.forkedAt = this.#log.add('session/forked', data, entry.when)
    return this.#added(entry, this.forkedAt)
  }
}
