import type { AppendOptions, SeqRange, SurfaceReplacement } from '@session-persistence/core'
import type { Imported } from '../assembly/event-inputs.ts'
import type { LogAssembler } from '../assembly/log-assembler.ts'
import { seqRanges } from '../assembly/seq-ranges.ts'
import type { Moment } from '../assembly/time-source.ts'
import type { SourceRecord } from '../source/decode-line.ts'
import { isCount, isRecord, RecordFields } from '../source/record-fields.ts'
import { SeqMap } from './seq-map.ts'

/** A record on its way: what is left of it, and where its event comes from. */
export interface DshEntry {
  readonly record: SourceRecord
  readonly fields: RecordFields
  readonly when: Moment
  readonly options: AppendOptions
  /** What of the envelope has no place in ours. */
  readonly envelope: SourceRecord
  /** Hears the seq of the record's event. */
  readonly placed: (seq: number) => void
}

/** Where a log stands while its records are mapped, in the source's own terms. */
export class DshContext {
  readonly log: LogAssembler
  readonly seqs: SeqMap = new SeqMap()
  /** Id of the parent when the header says how long the seed is: only then is its end a fork. */
  readonly seedParent: string | undefined
  /** The open turn and step as the source numbers them. */
  turn: unknown
  step: unknown
  /** The newest request environment in full. */
  header: SourceRecord | undefined
  /** Seq of `session/forked`, once it was written. */
  forkedAt: number | undefined

  constructor(log: LogAssembler, seedParent: string | undefined) {
    this.log = log
    this.seedParent = seedParent
  }

  entry(record: SourceRecord, sourceSeq: number, when: Moment): DshEntry {
    const { type: _type, seq, time, data, surfaceOp, sourceEventSeqs, ...others } = record
    const envelope: Record<string, unknown> = { ...others }
    if (seq !== undefined && !isCount(seq)) envelope.seq = seq
    if (time !== undefined && when.inferred) envelope.time = time
    const surface = this.#surface(surfaceOp)
    if (surface === undefined && surfaceOp !== undefined && surfaceOp !== 'append') envelope.surfaceOp = surfaceOp
    let sources: readonly SeqRange[] = []
    if (Array.isArray(sourceEventSeqs)) {
      const found = this.seqs.ranges(sourceEventSeqs)
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
      placed: (seq) => this.seqs.set(sourceSeq, seq),
    }
  }

  #surface(operation: unknown): SurfaceReplacement | undefined {
    if (!isRecord(operation) || operation.op !== 'replace') return undefined
    const start = isCount(operation.start) ? this.seqs.get(operation.start) : undefined
    const end = isCount(operation.end) ? this.seqs.get(operation.end) : undefined
    return start === undefined || end === undefined ? undefined : { replace: [start, end] }
  }

  /**
   * What is left of a record after its mapping took what it needs: of its data, and of its envelope.
   * @param more what the mapping took of the data and could not say
   */
  imported({ fields, envelope }: DshEntry, more: SourceRecord = {}): Imported {
    const data = { ...fields.rest(), ...more }
    const hasData = Object.keys(data).length > 0
    const hasEnvelope = Object.keys(envelope).length > 0
    if (!hasData && !hasEnvelope) return {}
    return { imported: { ...(hasData && { data }), ...(hasEnvelope && { record: envelope }) } }
  }

  /** The record's own turn and step, where they say no more than where it stands. */
  dropPlace({ fields }: DshEntry): void {
    fields.drop('turn', this.turn)
    fields.drop('step', this.step)
  }

  isOpen(turn: unknown, step: unknown): boolean {
    return this.log.place.step !== undefined && turn === this.turn && step === this.step
  }

  inStep(): { readonly turn: number; readonly step: number } {
    return { turn: this.log.place.turn ?? 0, step: this.log.place.step ?? 0 }
  }

  /** Reports the seq of an event that was added; one that the grammar refused is kept aside. */
  added(entry: DshEntry, seq: number | undefined): boolean {
    if (seq === undefined) this.log.report.repairs.misplaced++
    else entry.placed(seq)
    return seq !== undefined
  }
}
