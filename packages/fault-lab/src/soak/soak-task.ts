/** What a process of a soak does, and what it says. */
import type { RealBackend } from '../real/real-backend.ts'

export interface SoakTask {
  readonly backend: RealBackend
  readonly directory: string
  readonly seed: number
  /** Ends after so many operations, or at this time in Unix milliseconds, whatever comes first. */
  readonly operations: number
  readonly until?: number
  /** For controls: every reader stays open. */
  readonly leaks?: boolean
}

/** Sessions that all processes of a soak use. */
export const SOAK_SESSIONS = 6

/** Operations between two looks at what the process holds. */
export const LOOK_EVERY = 25

/** What a process holds after a number of operations. */
export interface Holding {
  readonly operations: number
  /** Open descriptors. */
  readonly handles: number
  /** Bytes of live objects, after a collection where the process can ask for one. */
  readonly heap: number
}

/**
 * A line on standard output, as JSON: a batch is acknowledged; a session is about to be deleted; what is held; a fault
 * of ours; the end.
 */
export type SoakLine =
  | { readonly kind: 'ack'; readonly id: string; readonly born: string; readonly events: number }
  | { readonly kind: 'delete'; readonly id: string }
  | ({ readonly kind: 'holding' } & Holding)
  | { readonly kind: 'violation'; readonly problem: string }
  | { readonly kind: 'end'; readonly operations: number; readonly faults: number }
