import type { CallTier, ToolCall } from '../event/vocabulary.ts'

/** What is known of a call that never returned; a format turns it into its own tool-result message. */
export interface CallOutcome {
  /** Why there is no real result. */
  readonly kind: 'interrupted' | 'cancelled' | 'failed'
  readonly tier: CallTier
  readonly idempotencyKey?: string
  readonly externalId?: string
  /** A sentence for the model: what happened, and what is safe to do next. */
  readonly text: string
}

/** One block of an unfinished answer, put together from its chunks, in block order. */
export interface PartialBlock {
  readonly kind: 'text' | 'reasoning'
  readonly text: string
}

/**
 * The few makers and readers that persistence needs of a harness's own message form. Everything else about a message
 * is opaque. All functions are pure and must accept any JSON value without throwing where they read.
 */
export interface MessageFormat {
  /** Stored in the session header; a resume finds the format by it. */
  readonly name: string
  /** The message that stands for a missing tool result. */
  toolResult(call: ToolCall, outcome: CallOutcome): unknown
  /**
   * The message that keeps an unfinished answer, or undefined when nothing in `blocks` can be kept. Reasoning blocks
   * may be left out where the provider would refuse them back.
   */
  partialAssistant(blocks: readonly PartialBlock[]): unknown
  /** Plain text of a message, for titles, search and transcripts. Empty when there is none. */
  text(message: unknown): string
}
