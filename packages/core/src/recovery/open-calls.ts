import type { CallTier, ToolCall, ToolEffect } from '../event/vocabulary.ts'

/** A call that an answer asked for and that has no result. */
export interface OpenCall extends ToolCall {
  readonly turn?: number
  readonly step?: number
  /** Seq of the `assistant/message` that asked for it. */
  readonly askedAt: number
  /** Seq of its `tool/call`; undefined when it was never begun. */
  readonly begunAt?: number
  readonly effect?: ToolEffect
  readonly idempotencyKey?: string
  readonly externalId?: string
  readonly tier: CallTier
}
