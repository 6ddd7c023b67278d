/** The face that harness authors see: one `SessionPersistence` a process, one `Session` a running conversation. */
import type { SessionError } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'
import type { SessionHeader } from '../event/header.ts'
import type { OpenCall, ReconciledResult } from '../recovery/open-calls.ts'
import type { RecoveryReport } from '../recovery/recovery-report.ts'
import type { ReadOptions, Session, SessionState } from '../session/session.ts'
import type {
  BackendDescription,
  StorageProblem,
  StorageRepair,
  StoredState,
  TornTail,
} from '../storage/session-storage.ts'

export type { HeadReceipt } from '../event/head-receipt.ts'
export type { ReconciledResult } from '../recovery/open-calls.ts'
export type { PersistenceOptions } from '../session/persistence-options.ts'
export type * from '../session/session.ts'

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

/** Where a child parts from its parent, one way of naming the place or none: the newest stable position. */
export type ForkOptions = (
  | {
      /** Last seq that the child shares; must be a stable position. */
      readonly at: number
      readonly before?: never
      readonly turn?: never
    }
  | { /** First seq that it does not share. */ readonly before: number; readonly at?: never; readonly turn?: never }
  | {
      /** The child shares everything up to the end of this turn. */ readonly turn: number
      readonly at?: never
      readonly before?: never
    }
  | { readonly at?: never; readonly before?: never; readonly turn?: never }
) & { readonly id?: string; readonly reason?: string; readonly labels?: { readonly [name: string]: string } }

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

/** Read-only: never locks, never writes; recovery only in memory. */
export interface SessionView extends SessionState {
  /** What a resume would find and do. */
  readonly recovery: RecoveryReport
  readonly bytes: number
  readonly head: HeadReceipt
  /** Required event types that this program does not know. A resume refuses them unless told to preserve them. */
  readonly unknownTypes: readonly string[]
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
  /** Oddities that lose nothing: a byte-order mark, line ends that another tool wrote. */
  readonly notes: readonly string[]
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
