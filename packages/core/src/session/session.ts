/** What a harness author holds for one running conversation. */
import type { AnySessionEvent, AppendOptions, EventInput, EventType, SessionEvent } from '../event/event.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'
import type { SessionHeader } from '../event/header.ts'
import type { SessionEventMap, ToolCall, ToolEffect, TurnEndReason } from '../event/vocabulary.ts'
import type { LastRequest } from '../projection/last-request.ts'
import type { ModelContext } from '../projection/model-context.ts'
import type { Projection } from '../projection/projection.ts'
import type { SurfaceEntry } from '../projection/surface.ts'
import type { UsageState } from '../projection/usage.ts'
import type { OpenCall } from '../recovery/open-calls.ts'
import type { RecoveryReport } from '../recovery/recovery-report.ts'

export interface ReadOptions {
  /** Inclusive; default 0. */
  readonly from?: number
  /** Inclusive; default the last one. */
  readonly to?: number
  readonly reverse?: boolean
  readonly signal?: AbortSignal
}

/** What both the writer's session and the read-only view can answer. */
export interface SessionState {
  readonly header: SessionHeader
  /** Seq of the next event. */
  readonly nextSeq: number
  /** Ordered live messages: what the model sees next. */
  messages(): readonly unknown[]
  surface(): readonly SurfaceEntry[]
  /** Latest request header plus the live messages: what the model will see next. */
  modelContext(): ModelContext
  /** What the model saw at its last request; undefined when there was none. */
  lastRequest(): LastRequest | undefined
  openCalls(): readonly OpenCall[]
  usage(): UsageState
  /** Title, labels, counts. */
  summary(): {
    readonly title?: string
    readonly labels: { readonly [name: string]: string }
    readonly turns: number
    readonly messages: number
  }
  /** Open turn and step, if any. */
  readonly openTurn: { readonly turn: number; readonly step?: number } | undefined
  /** State of a projection given at open; NOT_SUPPORTED for another. */
  state<State>(projection: Projection<State>): State
}

/** A call about to run. */
export interface BeginCall extends ToolCall {
  readonly turn?: number
  readonly step?: number
  readonly effect?: ToolEffect
  readonly idempotencyKey?: string
}

export interface CloseTurnOptions {
  readonly reason: Exclude<TurnEndReason, { kind: 'interrupted' }>
  /** Keep an unfinished answer's text as an interrupted message; default true. */
  readonly keepPartialAnswer?: boolean
}

/** The one writer of a session. `accepted`: append returned. `durable`: a flush that covers it resolved. */
export interface Session extends SessionState, AsyncDisposable {
  readonly id: string
  /** Seq of the first event that is not durable. */
  readonly durableSeq: number
  /** What resume found and did; undefined for a new session. */
  readonly recovery: RecoveryReport | undefined
  /**
   * Validates, copies, freezes, numbers and queues one event; never blocks on I/O.
   * INVALID_EVENT, UNKNOWN_EVENT, TOO_LARGE: nothing was appended. BACKPRESSURE: wait for `drained()`. CLOSED.
   */
  append<T extends EventType>(type: T, data: SessionEventMap[T], options?: AppendOptions): SessionEvent<T>
  /** All or none, and in one batch on the medium. */
  appendAll(events: readonly EventInput[]): readonly SessionEvent[]
  /** Resolves when everything accepted before the call is durable. Concurrent calls share a barrier. After an error it is the retry. */
  flush(): Promise<HeadReceipt>
  /** Resolves when less than half of the pending bound waits. Rejects when writing fails. */
  drained(): Promise<void>
  /**
   * The durability point before a model request: compares `request` with what the log derives (INVARIANT on a
   * difference, nothing appended), appends `request/sent`, and flushes.
   */
  checkpoint(request: ModelContext): Promise<HeadReceipt>
  /** The durability point before a tool runs: appends `tool/call` and flushes. */
  beginCall(call: BeginCall): Promise<HeadReceipt>
  /** Closes what is open in the turn, live, exactly as recovery would after a crash, and flushes. */
  closeTurn(options: CloseTurnOptions): Promise<HeadReceipt>
  /** Every accepted event, in order, synchronously. Returns the unsubscribe function. */
  subscribe(listener: (event: AnySessionEvent) => void): () => void
  /** Accepted, not durable yet. */
  pendingEvents(): readonly AnySessionEvent[]
  /** The stored log (durable events). */
  read(options?: ReadOptions): AsyncIterable<AnySessionEvent>
  /** Flushes and releases the lock. Twice is fine. If the flush fails it rejects, and the session stays open. */
  close(): Promise<void>
  /** Releases the lock without flushing: pending events are dropped and returned. */
  abandon(): Promise<readonly AnySessionEvent[]>
}
