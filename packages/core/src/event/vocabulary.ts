/**
 * The core vocabulary as types, in three domains: boundary, surface and log-only. The map is open: a harness adds its
 * own types `namespace/name` by declaration merging, and gives their run-time schemas in the catalog at open.
 * `message`, `config`, `tools`, `arguments` and the like are opaque: persistence stores them and never looks inside.
 */

/** Where an event belongs. Outside a turn or step the field is absent, never null. */
export type InTurn = { readonly turn?: number; readonly step?: number }
export type InStep = { readonly turn: number; readonly step: number }

export type ErrorInfo = { readonly code?: string; readonly message?: string; readonly details?: unknown }

export type TurnEndReason =
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly error: ErrorInfo }
  | { readonly kind: 'cancelled'; readonly cause?: string }
  | { readonly kind: 'max-tokens' }
  /** Written by recovery only. */
  | { readonly kind: 'interrupted' }

/** One tool call that an answer asks for. */
export type ToolCall = { readonly callId: string; readonly name: string; readonly arguments: unknown }

/** What running a tool twice would do. Absent is treated like `side-effect`. */
export type ToolEffect = 'read-only' | 'idempotent' | 'side-effect'

/** What may be assumed of a call that has no result after a crash (see recovery). */
export type CallTier = 'not-started' | 'safe-to-retry' | 'reconcile' | 'outcome-unknown'

/** Token counts of one answer, in tokens. Unknown counts are absent. */
export type Usage = {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
}

/** Where a user-role message came from. `kind` is open: human, context, sub-agent, command, ... */
export type MessageSource = { readonly kind: string; readonly [key: string]: unknown }

/** One delta of block `index` of the answer that is being streamed. */
export type ChunkDelta =
  | { readonly kind: 'text' | 'reasoning'; readonly index: number; readonly text: string }
  | {
      readonly kind: 'tool-arguments'
      readonly index: number
      readonly callId: string
      readonly name?: string
      readonly text: string
    }
  /** Anything else verbatim: signatures, usage, finish reasons. */
  | { readonly kind: 'other'; readonly index?: number; readonly value: unknown }

export interface SessionEventMap {
  // boundary
  'turn/start': { readonly turn: number; readonly trigger?: unknown }
  'turn/end': { readonly turn: number; readonly reason: TurnEndReason }
  'step/start': InStep
  'step/end': InStep
  'session/resumed': { readonly writer?: string }
  'session/forked': {
    readonly parent: string
    /** Last seq of the parent that the child shares; -1 when it shares none. */
    readonly at: number
    readonly reason?: string
  }
  // surface
  'user/message': InTurn & { readonly message: unknown; readonly source?: MessageSource }
  'assistant/message': InTurn & {
    readonly message: unknown
    readonly toolCalls: readonly ToolCall[]
    readonly provider?: string
    readonly model?: string
    readonly usage?: Usage
    /** The text of an answer that never finished. */
    readonly interrupted?: true
  }
  'tool/result': InTurn & {
    readonly callId: string
    readonly message: unknown
    /** Present when the tool failed. */
    readonly error?: ErrorInfo
    readonly meta?: unknown
    /** Made by `closeTurn` or recovery, not by the tool. */
    readonly synthetic?: { readonly tier: CallTier; readonly idempotencyKey?: string; readonly externalId?: string }
  }
  // log-only
  'surface/remove': InTurn & { readonly start: number; readonly end: number; readonly reason?: string }
  'request/header': InTurn & {
    readonly model: string
    readonly config?: unknown
    readonly system?: unknown
    readonly tools?: unknown
  }
  'request/sent': InStep & {
    /** From 1 in each step. */
    readonly attempt: number
  }
  'request/context': InTurn & { readonly contextWindow?: number; readonly [fact: string]: unknown }
  'assistant/chunk': InStep & ChunkDelta
  'tool/call': InTurn & ToolCall & { readonly effect?: ToolEffect; readonly idempotencyKey?: string }
  'tool/execution': InTurn & {
    readonly callId: string
    readonly state: 'started' | 'external' | 'committed' | 'failed'
    readonly externalId?: string
  }
  'compaction/start': InTurn & { readonly compactionId?: string; readonly trigger?: string }
  'compaction/end': InTurn & {
    readonly compactionId?: string
    readonly outcome: 'completed' | 'failed' | 'interrupted'
    readonly error?: ErrorInfo
  }
  'session/title': { readonly title: string; readonly source?: string }
  'session/labels': { readonly labels: { readonly [name: string]: string } }
  'todo/write': InTurn & { readonly todos: readonly unknown[] }
}

/** The three message types: they appear on the surface, the list of messages that the model sees. */
export type SurfaceType = 'user/message' | 'assistant/message' | 'tool/result'
