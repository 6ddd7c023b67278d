import type { AnySessionEvent, TurnEndReason } from '@session-persistence/core'
import { acceptLine } from '../assembly/lines-into-log.ts'
import type { LogAssembler } from '../assembly/log-assembler.ts'
import type { Moment, TimeSource } from '../assembly/time-source.ts'
import type { SourceRecord } from '../source/decode-line.ts'
import { isRecord } from '../source/record-fields.ts'
import { lineEnvelope } from './line-envelope.ts'
import { answerInput, blockCount, copiesAmong, hasText, mergeAnswer, toolCallsOf } from './merge-answer.ts'
import { splitResults, takenByResults } from './split-results.ts'
import type { IndexEntry } from './transcript-index.ts'
import { titleOf } from './transcript-line.ts'
import type { LogPlan } from './transcript-plan.ts'
import type { LoadedEntry, TranscriptSource } from './transcript-source.ts'
import { userLine } from './user-kind.ts'

/** Events are handed on in pages of about this many, or of what about this many bytes of the source became. */
const PAGE_EVENTS = 256
const PAGE_BYTES = 4 * 1024 * 1024

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,90}$/
const IGNORE = (): void => {}

/** One line of an answer. */
interface AnswerLine {
  readonly record: SourceRecord
  readonly message: SourceRecord
  readonly when: Moment
}

/**
 * One session of a transcript. A turn goes from a prompt to the last answer before the next one; a step is one answer
 * with its tools. The source has neither, so both are made.
 */
export class TranscriptMapper {
  readonly #log: LogAssembler
  readonly #times: TimeSource
  readonly #source: TranscriptSource
  readonly #plan: LogPlan
  /** Id of the parent, for a branch that is known to share its prefix. */
  readonly #forkedFrom: string | undefined
  readonly #answers = new Map<string, IndexEntry[]>()
  readonly #results = new Map<string, IndexEntry>()
  readonly #done = new Set<number>()
  readonly #answered = new Set<string>()
  #hasAnswer = false
  #end: TurnEndReason | undefined
  #compactionTrigger: string | undefined
  #usersSeen = 0
  #bytesLoaded = 0
  /** Events before the first of a branch's own lines. */
  forkedAt: number | undefined

  constructor(
    log: LogAssembler,
    times: TimeSource,
    source: TranscriptSource,
    plan: LogPlan,
    forkedFrom: string | undefined,
  ) {
    this.#log = log
    this.#times = times
    this.#source = source
    this.#plan = plan
    this.#forkedFrom = forkedFrom
    for (const entry of plan.entries) {
      const { messageId, results = [] } = entry.facts ?? {}
      if (messageId !== undefined && !this.#answers.get(messageId)?.push(entry)) this.#answers.set(messageId, [entry])
      for (const callId of results) if (!this.#results.has(callId)) this.#results.set(callId, entry)
    }
  }

  async *pages(): AsyncGenerator<readonly AnySessionEvent[], void, undefined> {
    let at = 0
    for (const entry of this.#plan.entries) {
      if (at++ === this.#plan.shared) this.#fork()
      if (!this.#done.has(entry.position)) await this.#accept(entry)
      if (this.#log.pageLength < PAGE_EVENTS && this.#bytesLoaded < PAGE_BYTES) continue
      this.#bytesLoaded = 0
      yield* this.#log.take()
    }
    this.#finish()
    yield* this.#log.take()
  }

  #fork(): void {
    this.forkedAt = this.#log.nextSeq
    const parent = this.#forkedFrom
    const at = this.forkedAt - 1
    if (parent !== undefined) this.#log.add('session/forked', { parent, at, reason: 'branch' }, this.#times.now())
  }

  #finish(): void {
    const now = this.#times.now()
    if (this.#log.place.turn !== undefined && this.#end !== undefined) this.#endTurn(this.#end, now)
    this.#log.finish(now)
  }

  async #accept(entry: IndexEntry): Promise<void> {
    this.#done.add(entry.position)
    const loaded = await this.#load(entry)
    const { record } = loaded
    if (record === undefined) return
    switch (entry.facts?.role) {
      case 'user':
        return this.#user(entry, record)
      case 'results':
        return this.#toolResults(entry, record)
      case 'answer':
        return this.#answer(loaded, record)
      case 'title':
        return this.#title(entry, record)
      default:
        return this.#other(entry, record)
    }
  }

  async #load(entry: IndexEntry): Promise<LoadedEntry> {
    const loaded = await this.#source.load(entry)
    this.#bytesLoaded += entry.bytes
    if (entry.nth === 0) acceptLine(this.#log, loaded.line, loaded.decoded, this.#times.now())
    return loaded
  }

  #when(entry: IndexEntry): Moment {
    const when = this.#times.at(entry.facts?.time)
    if (when.inferred) this.#log.report.missingTimes++
    return when
  }

  #keep(entry: IndexEntry, record: SourceRecord, name: string): void {
    this.#log.report.kept++
    this.#log.keep(NAME.test(name) ? `claude-code/${name}` : 'claude-code/record', record, this.#when(entry))
  }

  #other(entry: IndexEntry, record: SourceRecord): void {
    const { type, subtype, compactMetadata } = record
    if (subtype === 'compact_boundary') {
      const trigger = isRecord(compactMetadata) ? compactMetadata.trigger : undefined
      this.#compactionTrigger = typeof trigger === 'string' ? trigger : undefined
    }
    this.#keep(entry, record, typeof subtype === 'string' ? `${type}-${subtype}` : String(type))
  }

  #title(entry: IndexEntry, record: SourceRecord): void {
    const found = titleOf(record)
    if (found === undefined) return
    const when = this.#when(entry)
    const imported = lineEnvelope(record, when, {}, [found.field])
    this.#log.report.mapped++
    this.#log.add('session/title', { title: found.title, source: String(record.type), ...{ imported } }, when)
  }

  /** Before anything that has to wait for results: those that stand further down are read now, the others are made. */
  async #settleCalls(): Promise<void> {
    for (const { callId } of this.#log.place.calls.open()) {
      const entry = this.#results.get(callId)
      if (entry === undefined || this.#done.has(entry.position)) continue
      this.#log.report.repairs.reordered++
      await this.#accept(entry)
    }
    this.#log.closeCalls(this.#times.now())
  }

  async #user(entry: IndexEntry, record: SourceRecord): Promise<void> {
    await this.#settleCalls()
    const when = this.#when(entry)
    const message = messageOf(record)
    const { kind, starts } = userLine(record, message, this.#usersSeen++ === 0)
    const { place } = this.#log
    this.#log.endStep(when)
    if (starts && place.turn !== undefined && this.#hasAnswer) this.#endTurn(this.#end ?? { kind: 'interrupted' }, when)
    if (starts && place.turn === undefined) {
      this.#hasAnswer = false
      this.#log.startTurn(when, { trigger: { kind } })
    }
    const input = { message, source: { kind }, imported: lineEnvelope(record, when, message) }
    const all = kind === 'compaction' ? place.surface.all : undefined
    if (all !== undefined) this.#compaction('start', when)
    this.#log.userMessage(input, when, IGNORE, all === undefined ? {} : { surface: { replace: all } })
    if (all !== undefined) this.#compaction('end', when)
    else this.#end = undefined
    this.#log.report.mapped++
    if (kind === 'interruption') this.#endTurn({ kind: 'cancelled', cause: 'user' }, when)
  }

  #compaction(end: 'start' | 'end', when: Moment): void {
    const place = this.#log.place.inTurn
    const trigger = this.#compactionTrigger
    if (end === 'end') this.#log.add('compaction/end', { ...place, outcome: 'completed' }, when)
    else this.#log.add('compaction/start', { ...place, ...(trigger !== undefined && { trigger }) }, when)
  }

  #endTurn(reason: TurnEndReason, when: Moment): void {
    this.#log.endStep(when)
    this.#log.endTurn(reason, when)
    this.#end = undefined
    this.#hasAnswer = false
  }

  #toolResults(entry: IndexEntry, record: SourceRecord): void {
    const { results = [] } = entry.facts ?? {}
    if (results.every((callId) => this.#answered.has(callId))) {
      this.#log.report.duplicates++
      this.#keep(entry, record, 'duplicate')
      return
    }
    const when = this.#when(entry)
    const message = messageOf(record)
    const { given, others } = splitResults(
      record,
      message,
      lineEnvelope(record, when, message, takenByResults(record, message)),
    )
    for (const result of given) {
      this.#answered.add(result.callId)
      this.#log.result(result, when, IGNORE)
    }
    if (others !== undefined) this.#log.userMessage(others, when, IGNORE)
    this.#log.report.mapped++
    this.#end = undefined
  }

  async #answer(loaded: LoadedEntry, record: SourceRecord): Promise<void> {
    await this.#settleCalls()
    const messageId = loaded.entry.facts?.messageId
    const entries = (messageId === undefined ? undefined : this.#answers.get(messageId)) ?? [loaded.entry]
    const copies = copiesAmong(
      entries.map(({ facts }) => ({ uuid: facts?.uuid, parent: facts?.parent, contentHash: facts?.contentHash ?? 0 })),
    )
    const lines: AnswerLine[] = []
    const duplicates: { readonly entry: IndexEntry; readonly record: SourceRecord }[] = []
    let last: SourceRecord = {}
    for (const [at, entry] of entries.entries()) {
      this.#done.add(entry.position)
      const line = entry === loaded.entry ? record : (await this.#load(entry)).record
      if (line === undefined) continue
      last = messageOf(line)
      if (copies.has(at)) duplicates.push({ entry, record: line })
      else lines.push({ record: line, message: last, when: this.#when(entry) })
    }
    this.#writeAnswer(lines, last)
    for (const { entry, record: copy } of duplicates) {
      this.#log.report.duplicates++
      this.#keep(entry, copy, 'duplicate')
    }
  }

  #writeAnswer(lines: readonly AnswerLine[], last: SourceRecord): void {
    const [first] = lines
    if (first === undefined) return
    const log = this.#log
    const message = mergeAnswer(
      lines.map((line) => line.message),
      last,
    )
    const toolCalls = toolCallsOf(message)
    log.endStep(first.when)
    if (log.place.turn === undefined) log.startTurn(first.when)
    log.startStep(first.when)
    const imported = lines.map((line) => ({
      ...lineEnvelope(line.record, line.when, message),
      blocks: blockCount(line.message),
    }))
    log.answer({ ...answerInput(message, toolCalls), imported }, first.when)
    // The source does not say whether a tool was started. That it was is the assumption that does no harm.
    for (const { message: asking, when } of lines) for (const call of toolCallsOf(asking)) log.beginCall(call, when)
    log.report.mapped += lines.length
    this.#hasAnswer = true
    const limited = message.stop_reason === 'max_tokens'
    this.#end = toolCalls.length > 0 || !hasText(message) ? undefined : { kind: limited ? 'max-tokens' : 'completed' }
  }
}

function messageOf({ message }: SourceRecord): SourceRecord {
  return isRecord(message) ? message : {}
}
