/**
 * The envelope: what every entry of a log looks like, whatever its type.
 * Keys are written in this order: seq, time, type, data, ignorable, surface, sources.
 */
import type { SessionEventMap } from './vocabulary.ts'

/** A value that survives JSON exactly. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** An inclusive range of seqs. */
export type SeqRange = readonly [start: number, end: number]

/**
 * On a message event: it takes the place of the live surface events from the first to the second, both named by seq.
 * They are in the order of the surface, which is not that of seqs once something was replaced.
 */
export interface SurfaceReplacement {
  readonly replace: readonly [first: number, last: number]
}

export type EventType = keyof SessionEventMap & string

/** What `append` takes beside type and data. */
export interface AppendOptions {
  /** Message types only. Omitted means: append to the end of the surface. */
  readonly surface?: SurfaceReplacement
  /** Earlier events that this one was made from. */
  readonly sources?: readonly SeqRange[]
}

/** One stored event whose type this program may not know. */
export interface AnySessionEvent extends AppendOptions {
  /** Position in the log, contiguous from 0. Order is `seq`, never `time`. */
  readonly seq: number
  /** Unix milliseconds, an integer. May repeat or go backwards: clocks do. */
  readonly time: number
  readonly type: string
  readonly data: unknown
  /** A reader that does not know the type may skip it. Absent means required. */
  readonly ignorable?: true
}

/** One stored event; narrows by `type` to the data of that type. */
export type SessionEvent<T extends EventType = EventType> = {
  readonly [K in T]: AnySessionEvent & { readonly type: K; readonly data: SessionEventMap[K] }
}[T]

/** One entry of `appendAll`. */
export type EventInput<T extends EventType = EventType> = {
  readonly [K in T]: AppendOptions & { readonly type: K; readonly data: SessionEventMap[K] }
}[T]

export function isEventOf<T extends EventType>(event: AnySessionEvent, type: T): event is SessionEvent<T> {
  return event.type === type
}
