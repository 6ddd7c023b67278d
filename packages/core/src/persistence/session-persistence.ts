/** The face that harness authors see: one `SessionPersistence` a process, one `Session` a running conversation. */

import type { SessionError } from '../errors.ts'
import type { EventCatalog } from '../event/catalog.ts'
import type { AnySessionEvent, AppendOptions, EventInput, EventType, SessionEvent } from '../event/event.ts'
import type { SessionHeader } from '../event/header.ts'
import type { SessionEventMap, ToolCall, ToolEffect, TurnEndReason } from '../event/vocabulary.ts'
import type { MessageFormat } from '../message-format/message-format.ts'
import type { LastRequest } from '../projection/last-request.ts'
import type { ModelContext } from '../projection/model-context.ts'
import type { Projection } from '../projection/projection.ts'
import type { SurfaceEntry } from '../projection/surface.ts'
import type { UsageState } from '../projection/usage.ts'
import type { OpenCall } from '../recovery/open-calls.ts'
import type { RecoveryReport } from '../recovery/recovery-report.ts'
import type {
  BackendDescription,
  StorageProblem,
  StorageRepair,
  StoredState,
  TornTail,
} from '../storage/session-storage.ts'

/** Proof of the last durable event: its seq and the CRC-32 (8 hex digits) of its canonical JSON. Undefined seq -1 means an empty log. */
export interface HeadReceipt {
  readonly seq: number
  readonly crc: string
}

/** Given once, when a persistence is opened. */
export interface PersistenceOptions {
  /** Schemas of the harness's own event types. */
  readonly events?: EventCatalog
  /** Projections maintained beside the core ones. */
  readonly projections?: readonly Projection[]
  /** Formats beside `plain`, `anthropic`, `openai` and `ai-sdk`. */
  readonly messageFormats?: readonly MessageFormat[]
  /** Changes every event before it is validated and stored, for example to redact secrets. Must be pure and synchronous. */
  readonly redact?: (type: string, data: unknown) => unknown
  /** Milliseconds from acceptance to the background write, 0 to 200; default 200. */
  readonly writeWindowMs?: number
  /** Bytes that may wait; default and most `LIMITS.pendingBytes`. */
  readonly pendingBytes?: number
  /** Hears a background write failure first. Without it the process emits a warning. */
  readonly onFailure?: (error: SessionError, session: { readonly id: string }) => void
  /** Unix milliseconds; default `Date.now`. */
  readonly clock?: () => number
  /** Ids of new sessions; default UUIDv7. */
  readonly newId?: () => string
}

export interface CreateOptions {
  readonly id?: string
  readonly cwd?: string
  /** Default `plain`. */
  readonly messageFormat?: string
  readonly origin?: string
  readonly parent?: string
  readonly labels?: { readonly [name: string]: string }
}

export interface ResumeOptions {
  /** `close` (default) ends an open turn as interrupted; `keep` leaves it open with its calls. */
  readonly openTurn?: 'close' | 'keep'
  /**
   * Offered every open call that was begun. Returns the data of its real `tool/result` (without turn, step and callId), or undefined: then the tier applies.
   * A throw aborts the resume with nothing written. It may run again after a crash.
   */
  readonly reconcile?: (call: OpenCall, signal: AbortSignal) => Promise<ReconciledResult | undefined>
  /** Keep an unfinished answer's text as an interrupted message; default true. */
  readonly keepPartialAnswer?: boolean
  /** Refuse with CORRUPT when the stored log does not hold this event. */
  readonly expectHead?: HeadReceipt
  /** Continue a log with required event types that are not in the catalog. They are preserved untouched. */
  readonly preserveUnknown?: boolean
  /** Named in `session/resumed`. */
  readonly writer?: string
  readonly signal?: AbortSignal
}

export type ReconciledResult = Omit<SessionEventMap['tool/result'], 'turn' | 'step' | 'callId' | 'synthetic'>

export type ForkOptions = (
  | { /** Last seq that the child shares; must be a stable position. */ readonly at: number; readonly before?: never }
  | { /** First seq that it does not share. */ readonly before: number; readonly at?: never }
  | { readonly at?: never; readonly before?: never }
) & { readonly id?: string; readonly reason?: string; readonly labels?: { readonly [name: string]: string } }

export interface ReadOptions {
  /** Inclusive; default 0. */
  readonly from?: number
  /** Inclusive; default the last one. */
  readonly to?: number
  readonly reverse?: boolean
  readonly signal?: AbortSignal
}

export interface ListFilter {
  readonly cwd?: string
  readonly parent?: string
  readonly origin?: string
  /** Every label given must be equal. */
  readonly labels?: { readonly [name: string]: string }
  /** Unix milliseconds, exclusive. */
  readonly updatedAfter?: number
  readonly state?: StoredState
}

export interface ListOptions {
  /** Sessions on the page, 1 to 1,000; default 50. */
  readonly limit?: number
  /** From the page before. */
  readonly cursor?: string
  readonly filter?: ListFilter
  readonly signal?: AbortSignal
}

export interface SessionSummary {
  readonly id: string
  readonly state: StoredState
  readonly owner?: string
  readonly createdAt?: number
  readonly updatedAt?: number
  readonly title?: string
  readonly labels?: { readonly [name: string]: string }
  /** Turns started. */
  readonly turns?: number
  readonly events?: number
  readonly bytes: number
  readonly cwd?: string
  readonly parent?: string
  readonly origin?: string
  readonly messageFormat?: string
  /** Why it is damaged or newer. */
  readonly error?: SessionError
}

export interface SessionPage {
  readonly sessions: readonly SessionSummary[]
  /** Present when there may be more. */
  readonly cursor?: string
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

/** Read-only: never locks, never writes; recovery only in memory. */
export interface SessionView extends SessionState {
  /** What a resume would find and do. */
  readonly recovery: RecoveryReport
  readonly bytes: number
  readonly head: HeadReceipt
  /** Required event types that this program does not know. A resume refuses them unless told to preserve them. */
  readonly unknownTypes: readonly string[]
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

export interface VerifyReport {
  readonly id: string
  readonly ok: boolean
  readonly events: number
  readonly bytes: number
  readonly head: HeadReceipt
  readonly torn?: TornTail
  readonly problems: readonly (
    | StorageProblem
    | { readonly code: 'INVALID_EVENT'; readonly message: string; readonly seq?: number; readonly offset?: number }
  )[]
  readonly unknownTypes: readonly string[]
}

export interface RepairReport extends StorageRepair {
  readonly id: string
}

/** A complete log to be stored as it is. */
export interface LogSource {
  readonly header: SessionHeader
  /** Contiguous from seq 0; pages bound the memory. */
  readonly events: AsyncIterable<readonly AnySessionEvent[]>
}

export interface SessionPersistence extends AsyncDisposable {
  readonly description: BackendDescription
  /** New session, exclusive writer. Appears on the medium at the first flush; an abandoned one leaves nothing. */
  create(options?: CreateOptions): Promise<Session>
  /** Exclusive writer of a stored session; commits recovery; refuses corrupt or newer logs. */
  resume(id: string, options?: ResumeOptions): Promise<Session>
  /** Self-contained child from a stable position; the parent's bytes do not change. */
  fork(id: string, options?: ForkOptions): Promise<Session>
  inspect(id: string, options?: { readonly signal?: AbortSignal; readonly at?: number }): Promise<SessionView>
  read(id: string, options?: ReadOptions): AsyncIterable<AnySessionEvent>
  /** The same, then what writers of any process write; ends when the session is deleted. */
  follow(
    id: string,
    options?: { readonly from?: number; readonly signal?: AbortSignal },
  ): AsyncIterable<AnySessionEvent>
  list(options?: ListOptions): Promise<SessionPage>
  /** Renames or labels without resuming; never closes turns. */
  annotate(
    id: string,
    annotation: { readonly title?: string; readonly labels?: { readonly [name: string]: string } },
  ): Promise<HeadReceipt>
  verify(
    id: string,
    options?: { readonly expectHead?: HeadReceipt; readonly signal?: AbortSignal },
  ): Promise<VerifyReport>
  repair(id: string, options?: { readonly dryRun?: boolean; readonly signal?: AbortSignal }): Promise<RepairReport>
  /** Idempotent, complete, refused while a writer is open; forks survive. True when something was there. */
  delete(id: string): Promise<boolean>
  /** Stores a complete log as given: events keep seq, time and type; the grammar is checked; whole or absent. */
  importLog(
    source: LogSource,
    options?: { readonly signal?: AbortSignal },
  ): Promise<{ readonly id: string; readonly events: number; readonly head: HeadReceipt }>
  /** The stored log as a source for `importLog` of another persistence. */
  exportLog(id: string, options?: { readonly signal?: AbortSignal }): Promise<LogSource>
  close(): Promise<void>
}
