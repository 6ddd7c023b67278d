import type { ErrorInfo, MessageSource, ToolCall, Usage } from '@session-persistence/core'

/** Fields of the source's record that core has no name for; they stand in the event's data as `imported`. */
export interface Imported {
  readonly imported?: unknown
}

export interface AnswerInput extends Imported {
  readonly message: unknown
  readonly toolCalls: readonly ToolCall[]
  readonly provider?: string
  readonly model?: string
  readonly usage?: Usage
  readonly interrupted?: true
}

export interface ResultInput extends Imported {
  readonly callId: string
  readonly message: unknown
  readonly error?: ErrorInfo
  readonly meta?: unknown
}

export interface UserInput extends Imported {
  readonly message: unknown
  readonly source?: MessageSource
}
