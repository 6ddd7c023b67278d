import type { SessionError } from '../errors.ts'
import type { AnySessionEvent } from '../event/event.ts'
import type { OpenCall } from './open-calls.ts'

/** Inclusive. */
export interface MissingEvents {
  readonly from: number
  readonly to: number
  /** The log holds another event in the place of the last one: it was continued where it was cut, there or before. */
  readonly replaced?: true
}

/** In words, for people. */
export function describeMissing({ from, to, replaced }: MissingEvents): string {
  if (replaced) return `event ${to} is another one than the one that the summary beside the log was made for`
  if (from === to) return `event ${from} is missing: the summary beside the log was made for it`
  return `events ${from} to ${to} are missing: the summary beside the log was made for the last of them`
}

/** Everything that a resume found and did; on a view, what it would find and do. */
export interface RecoveryReport {
  /** Events that survived, before anything was added. */
  readonly survived: number
  /** Bytes cut from the end, and where they are kept. */
  readonly torn?: { readonly offset: number; readonly bytes: number; readonly keptAt?: string }
  /**
   * Events that the log does not hold, though the summary beside it was made for the last of them: something else cut the log, as
   * a copy that was interrupted does; a power cut did, with durability `process`; or a repair gave them up. A receipt
   * (`expectHead`) refuses such a log. A resume compares the event that the summary was made for where it reads it anyway,
   * which is behind the newest snapshot; a view and `verify` always do.
   */
  readonly missing?: MissingEvents
  /** The turn that was open. */
  readonly openTurn?: { readonly turn: number; readonly step?: number }
  /** Calls that were open, with their tiers as found. */
  readonly openCalls: readonly OpenCall[]
  /** Events added to close the turn; empty when nothing was open or the turn was kept open. */
  readonly closed: readonly AnySessionEvent[]
  /** On a view: why a resume with default options would refuse this log. */
  readonly refusal?: SessionError
  /** Set when an older format was upgraded, with the place of the original. */
  readonly upgraded?: { readonly from: number; readonly to: number; readonly originalAt?: string }
}
