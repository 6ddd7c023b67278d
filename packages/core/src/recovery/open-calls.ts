import type { CallTier, SessionEventMap, ToolCall, ToolEffect } from '../event/vocabulary.ts'
import type { CallRecord } from '../projection/step-calls.ts'
import type { TurnsState } from '../projection/turns.ts'

/** A call that an answer asked for and that has no result. */
export interface OpenCall extends ToolCall {
  readonly turn?: number
  readonly step?: number
  /** Seq of the `assistant/message` that asked for it. */
  readonly askedAt: number
  /** Seq of its `tool/call`; undefined when it was never begun, or when that is lost (its tier tells). */
  readonly begunAt?: number
  readonly effect?: ToolEffect
  readonly idempotencyKey?: string
  readonly externalId?: string
  readonly tier: CallTier
}

/** The real outcome of an open call, as its `tool/result` without what the log knows already. */
export type ReconciledResult = Omit<SessionEventMap['tool/result'], 'turn' | 'step' | 'callId' | 'synthetic'>

/** Open calls in transcript order, each with what may be assumed of it (events-and-recovery, closing what is open). */
export function openCallsOf(turns: TurnsState): OpenCall[] {
  return turns.calls.open().map(({ answered: _, ...record }) => ({ ...record, tier: tierOf(record, turns.lostAt) }))
}

/**
 * `not-started` rests on the rule that a tool body runs only after its `tool/call` is durable. A declared effect is
 * stronger than an external id: what is safe to run again needs no looking up. Where an event is lost behind the answer that
 * asked, that event may have been the `tool/call`, and the tool may have run.
 */
function tierOf(record: CallRecord, lostAt: number | undefined): CallTier {
  if (record.begunAt === undefined) return (lostAt ?? -1) > record.askedAt ? 'outcome-unknown' : 'not-started'
  if (record.effect === 'read-only' || record.effect === 'idempotent') return 'safe-to-retry'
  return record.externalId === undefined ? 'outcome-unknown' : 'reconcile'
}
