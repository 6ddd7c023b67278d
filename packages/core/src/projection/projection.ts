import type { AnySessionEvent } from '../event/event.ts'

/**
 * State derived from the log, event by event. Pure: `apply` returns the next state and leaves `state` as it was, as
 * far as any holder of it can tell. Given at open and maintained incrementally; the session keeps the state, not the
 * events.
 */
export interface Projection<State = unknown> {
  /** Unique among the projections of one persistence. */
  readonly name: string
  /** Raise it when `apply` changes meaning: snapshots of other versions are ignored. */
  readonly version: number
  /**
   * True when `apply` needs `assistant/chunk` events. Chunks are 96 % of a streaming log; without this a resume may
   * skip them unread.
   */
  readonly chunks?: boolean
  initial(): State
  apply(state: State, event: AnySessionEvent): State
  /** The state as JSON for a snapshot. Default: the state itself. */
  save?(state: State): unknown
  /** The reverse of `save`. Throwing means the snapshot is ignored. */
  load?(saved: unknown): State
}
