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
  /** From `to` down to `from`. */
  readonly reverse?: boolean
  /** Ends the iteration with its reason. */
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
  /** As `append`, all or none, and in one batch on the medium. TOO_LARGE beyond `LIMITS.batchBytes`. */
  appendAll(events: readonly EventInput[]): readonly SessionEvent[]
  /**
   * Resolves when everything accepted before the call is durable, with the receipt of the newest durable event (contract
   * family DURABLE). Concurrent calls share a sync. Rejects with what the medium says (NO_SPACE, READ_ONLY, CONFLICT,
   * POISONED, IO, ...): the events stay pending, in order, and the next flush is the retry. CLOSED.
   */
  flush(): Promise<HeadReceipt>
  /** Resolves when at most half of the pending bound waits. Rejects as `flush` when writing fails. */
  drained(): Promise<void>
  /**
   * The durability point before a model request: compares `request` with what the log derives (INVARIANT on a
   * difference, which is named; nothing appended), appends `request/sent`, and flushes. INVALID_EVENT outside a step.
   */
  checkpoint(request: ModelContext): Promise<HeadReceipt>
  /**
   * The durability point before a tool runs: appends `tool/call` and flushes. A call without it has certainly not run.
   * Rejects as `append` and `flush`.
   */
  beginCall(call: BeginCall): Promise<HeadReceipt>
  /**
   * Ends the turn as recovery would after a crash, in one batch, and flushes: open calls are answered, an unfinished answer
   * is kept, compaction, step and turn are ended. Where no turn is open it only flushes. NOT_SUPPORTED when that takes
   * a message format that was not given.
   */
  closeTurn(options: CloseTurnOptions): Promise<HeadReceipt>
  /** Every accepted event, in order, synchronously; a listener that throws is a process warning. Returns the unsubscribe function. */
  subscribe(listener: (event: AnySessionEvent) => void): () => void
  /** Accepted and not durable yet, in order. */
  pendingEvents(): readonly AnySessionEvent[]
  /** The stored log: durable events only. As `SessionPersistence.read`. */
  read(options?: ReadOptions): AsyncIterable<AnySessionEvent>
  /** As `read`, a page of events at a time. As `SessionPersistence.readPages`. */
  readPages(options?: ReadOptions): AsyncIterable<readonly AnySessionEvent[]>
  /** Flushes and releases the lock. Twice is fine. If the flush fails it rejects, and the session stays open. */
  close(): Promise<void>
  /** Releases the lock without flushing, once what is being written has ended: pending events are dropped and returned. */
  abandon(): Promise<readonly AnySessionEvent[]>
}
