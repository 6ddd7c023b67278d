import type { ToolCall, ToolEffect } from '../event/vocabulary.ts'
import { PersistentVector } from './persistent-vector.ts'

/** What the log says of one call of the step. */
export interface CallRecord extends ToolCall {
  readonly turn?: number
  readonly step?: number
  /** Seq of the `assistant/message` that asked for it. */
  readonly askedAt: number
  /** Seq of its `tool/call`. */
  readonly begunAt?: number
  readonly effect?: ToolEffect
  readonly idempotencyKey?: string
  /** From its newest `tool/execution` that names one. */
  readonly externalId?: string
  readonly answered?: true
}

/**
 * The calls of one step in transcript order, as an immutable value. Only the newest answer's calls can be open, because
 * an answer is refused while calls are. Ids live in a map that all values of a step share: an id belongs to a value
 * only if its position lies below that value's length (the same device as in AppendList).
 */
export class StepCalls {
  static readonly none: StepCalls = new StepCalls(new Map(), PersistentVector.empty(), 0, 0)
  readonly openCount: number
  readonly #positions: Map<string, number>
  readonly #records: PersistentVector<CallRecord>
  readonly #newest: number

  private constructor(
    positions: Map<string, number>,
    records: PersistentVector<CallRecord>,
    newest: number,
    openCount: number,
  ) {
    this.#positions = positions
    this.#records = records
    this.#newest = newest
    this.openCount = openCount
  }

  /** From a saved list; undefined when an id stands in it twice or an open call stands before the newest answer. */
  static from(records: readonly CallRecord[]): StepCalls | undefined {
    const newestSeq = records.at(-1)?.askedAt
    let vector = PersistentVector.empty<CallRecord>()
    const positions = new Map<string, number>()
    for (const record of records) {
      if (record.answered === undefined && record.askedAt !== newestSeq) return undefined
      positions.set(record.callId, positions.size)
      vector = vector.push(record)
    }
    if (positions.size !== records.length) return undefined
    const newest = records.findIndex((record) => record.askedAt === newestSeq)
    const open = records.filter((record) => record.answered === undefined)
    return new StepCalls(positions, vector, Math.max(newest, 0), open.length)
  }

  get(callId: string): CallRecord | undefined {
    const position = this.#positions.get(callId)
    return position === undefined || position >= this.#records.length ? undefined : this.#records.get(position)
  }

  /** Adds the calls of one answer. Their ids must be new. */
  ask(calls: readonly CallRecord[]): StepCalls {
    if (calls.length === 0) return this
    const length = this.#records.length
    const positions =
      this.#positions.size === length && length > 0 ? this.#positions : new Map([...this.#positions].slice(0, length))
    let records = this.#records
    for (const call of calls) {
      positions.set(call.callId, records.length)
      records = records.push(call)
    }
    return new StepCalls(positions, records, length, this.openCount + calls.length)
  }

  /** Changes what is known of one call of this step. */
  update(callId: string, change: (record: CallRecord) => CallRecord): StepCalls {
    const before = this.get(callId)
    if (before === undefined) return this
    const after = change(before)
    const closed = before.answered === undefined && after.answered === true ? 1 : 0
    const records = this.#records.with(this.#positions.get(callId) ?? 0, after)
    return new StepCalls(this.#positions, records, this.#newest, this.openCount - closed)
  }

  /** Calls without a result, in transcript order. */
  open(): CallRecord[] {
    const found: CallRecord[] = []
    if (this.openCount === 0) return found
    for (let position = this.#newest; position < this.#records.length; position += 1) {
      const record = this.#records.get(position)
      if (record.answered === undefined) found.push(record)
    }
    return found
  }

  all(): CallRecord[] {
    return Array.from({ length: this.#records.length }, (_, position) => this.#records.get(position))
  }
}
