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
  /** Default a UUIDv7. Any well-formed string of 1 to `LIMITS.idBytes` bytes of UTF-8. */
  readonly id?: string
  /** Working directory of the conversation, for lists and filters. */
  readonly cwd?: string
  /** The form of its messages: `plain` (default), `anthropic`, `openai`, `ai-sdk`, or one given at open. */
  readonly messageFormat?: string
  /** What started it, a word of the harness: `cli`, `sub-agent`, ... */
  readonly origin?: string
  /** The session that this one belongs to, such as that of a sub-agent's caller. */
  readonly parent?: string
  readonly labels?: { readonly [name: string]: string }
}

export interface ResumeOptions {
  /** `close` (default) ends an open turn as interrupted; `keep` leaves it open with its calls. */
  readonly openTurn?: 'close' | 'keep'
  /**
   * Offered every open call that was begun, or may have been. Returns the data of its real `tool/result` (without turn, step and callId), or undefined: then the tier applies.
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
) & {
  readonly id?: string
  readonly reason?: string
  /** Of the child. It has those, too, that the shared events set, and none that the parent was created with. */
  readonly labels?: { readonly [name: string]: string }
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
  /** True without problems. A torn tail is none: it holds no whole batch, and a resume cuts it. */
  readonly ok: boolean
  /** Sound events. */
  readonly events: number
  readonly bytes: number
  /** Of the last event; of an empty log where a problem kept the log from being folded. */
  readonly head: HeadReceipt
  readonly torn?: TornTail
  /** Each with offset and seq where they are known. */
  readonly problems: readonly (
    | StorageProblem
    | { readonly code: 'INVALID_EVENT'; readonly message: string; readonly seq?: number; readonly offset?: number }
  )[]
  /** Oddities that lose nothing: a byte-order mark, line ends that another tool wrote. */
  readonly notes: readonly string[]
  /** Required event types that this program does not know: a resume refuses them unless told to preserve them. */
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
  /**
   * Of an event that was durable once, where the log does not hold it (any more): what `RecoveryReport.missing` knows the missing
   * events by. `exportLog` gives it and `importLog` keeps it, so that a copy of a log that was cut says the same as the log.
   */
  readonly knownHead?: HeadReceipt
}

/**
 * All sessions of one place. Every operation rejects with a `SessionError` that carries the session's id: INVALID_ID,
 * INVALID_ARGUMENT for options that are not of the documented form, CLOSED, and what the medium says (NO_SPACE, READ_ONLY,
 * PERMISSION_DENIED, BUSY, IO). What else each may say stands beside it. Aborts reject with the signal's reason.
 */
export interface SessionPersistence extends AsyncDisposable {
  readonly description: BackendDescription
  /**
   * A new session with its exclusive writer. It appears on the medium with its first batch; abandoned before, it leaves
   * nothing (contract family LIFE).
   * @throws ALREADY_EXISTS; LOCKED while another writer holds the id; NOT_SUPPORTED for an unknown message format;
   * TOO_LARGE for a header over `LIMITS.headerBytes`.
   */
  create(options?: CreateOptions): Promise<Session>
  /**
   * The exclusive writer of a stored session. Commits recovery: cuts a torn tail, which is kept beside the log, closes an
   * open turn, upgrades an older format. A log that is refused is not written to (contract families CRASH, CORRUPT, VERSION).
   * Reads from the newest snapshot on, if there is one: damage before that is not met. `verify` reads everything.
   * @throws NOT_FOUND; LOCKED, naming the owner; CORRUPT with offset and seq; UNSUPPORTED_VERSION; UNKNOWN_EVENT for a
   * required type that is not in the catalog; NOT_SUPPORTED when closing the turn takes a message format that was not given; what
   * `reconcile` throws.
   */
  resume(id: string, options?: ResumeOptions): Promise<Session>
  /**
   * A self-contained child from a stable position: no turn and no call is open there. The parent's bytes do not change,
   * and the child needs nothing from it (contract family FORK).
   * @throws NOT_FOUND; INVALID_ARGUMENT for a position that is not stable; ALREADY_EXISTS or LOCKED for the child's id;
   * CORRUPT; UNSUPPORTED_VERSION.
   */
  fork(id: string, options?: ForkOptions): Promise<Session>
  /**
   * A read-only look at the log as it is, or as it was at seq `at`. Locks and writes nothing.
   * @throws NOT_FOUND; INVALID_ARGUMENT for an `at` that is not stored; CORRUPT; UNSUPPORTED_VERSION.
   */
  inspect(id: string, options?: { readonly signal?: AbortSignal; readonly at?: number }): Promise<SessionView>
  /**
   * The stored events of an inclusive range, in order or reversed: a snapshot of the log as iteration begins, one page in
   * memory at a time, as cheap near the end as at the start (contract family READ). Breaking off releases what it holds.
   * Damage is thrown at its place, after the sound events that the range has before it in the direction of the read. Damage
   * outside of the range is none of it; but behind a damaged end there may have been any event, so that a range which
   * reaches there is refused, not empty.
   * @throws NOT_FOUND; CORRUPT with offset and seq; UNSUPPORTED_VERSION: all while iterating.
   */
  read(id: string, options?: ReadOptions): AsyncIterable<AnySessionEvent>
  /**
   * As `read`, in pages as they come from the medium, none of them empty, of sizes that are no promise: a whole log of packed deltas is read a fifth to
   * a quarter faster, since a promise is waited for once a page and not once an event. Reversed, the events of a page are newest first, too.
   */
  readPages(id: string, options?: ReadOptions): AsyncIterable<readonly AnySessionEvent[]>
  /** As `read` from a seq on, then what writers of any process write; ends when the session is deleted. */
  follow(
    id: string,
    options?: { readonly from?: number; readonly signal?: AbortSignal },
  ): AsyncIterable<AnySessionEvent>
  /**
   * One page, newest first. Damaged and newer sessions are entries with a state, last; none hides another. A session that
   * is written to between two pages may be missed; none is shown twice (contract family LIST).
   */
  list(options?: ListOptions): Promise<SessionPage>
  /**
   * Renames or labels without a resume; never closes turns. Through the open session here, under its lock otherwise.
   * @throws NOT_FOUND; LOCKED while another process writes; INVALID_EVENT; CORRUPT; UNSUPPORTED_VERSION.
   */
  annotate(
    id: string,
    annotation: { readonly title?: string; readonly labels?: { readonly [name: string]: string } },
  ): Promise<HeadReceipt>
  /**
   * Reads and checks every record, and folds the log. Damage is reported, not thrown; nothing is written.
   * @throws NOT_FOUND.
   */
  verify(
    id: string,
    options?: { readonly expectHead?: HeadReceipt; readonly signal?: AbortSignal },
  ): Promise<VerifyReport>
  /**
   * Salvages what can be proven of a damaged log, or of one whose events cannot follow each other, keeps the original, and says what is
   * lost. A dry run unless told otherwise; a log that `verify` finds nothing in is left as it is.
   * @throws NOT_FOUND; LOCKED; NOT_SUPPORTED where the backend has no repair; UNSUPPORTED_VERSION; CORRUPT where nothing
   * can be salvaged.
   */
  repair(id: string, options?: { readonly dryRun?: boolean; readonly signal?: AbortSignal }): Promise<RepairReport>
  /**
   * Idempotent and complete; forks survive. True when something was there (contract family DELETE).
   * @throws LOCKED while a writer is open.
   */
  delete(id: string): Promise<boolean>
  /**
   * Stores a complete log as given: events keep seq, time and type; the grammar is checked; whole or absent.
   * @throws ALREADY_EXISTS; LOCKED; INVALID_EVENT; CORRUPT for seqs that are not contiguous; TOO_LARGE;
   * UNSUPPORTED_VERSION.
   */
  importLog(
    source: LogSource,
    options?: { readonly signal?: AbortSignal },
  ): Promise<{ readonly id: string; readonly events: number; readonly head: HeadReceipt }>
  /**
   * The log as it is stored now, as a source for `importLog` of another persistence. Holds nothing until it is read.
   * @throws NOT_FOUND; CORRUPT; UNSUPPORTED_VERSION.
   */
  exportLog(id: string, options?: { readonly signal?: AbortSignal }): Promise<LogSource>
  /**
   * Flushes and closes every session, after what runs has ended. When that fails it rejects and everything stays open.
   * Twice is fine.
   */
  close(): Promise<void>
}
