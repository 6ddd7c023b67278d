import type { AnySessionEvent } from '../event/event.ts'
import { isEventOf } from '../event/event.ts'
import { isOptional, isRecord, isSeq } from '../event/json-shape.ts'
import { AppendList } from './append-list.ts'
import type { ModelContext, ModelContextState } from './model-context.ts'
import { modelContextOf, modelContextProjection } from './model-context.ts'
import type { Projection } from './projection.ts'
import { requestHeaderProjection } from './request-header.ts'
import { refuse } from './saved-state.ts'
import { loadEntries } from './surface.ts'

/** What the model saw at its last request. */
export interface LastRequest {
  /** Seq of `request/sent`; for a derived one, of the newest `assistant/message`. */
  readonly seq: number
  readonly attempt?: number
  /** True when the log holds no `request/sent` and the context was taken just before the newest answer. */
  readonly derived: boolean
  readonly context: ModelContext
}

/** The last request with the parts of its context, which later events leave as they were. */
export interface LastRequestParts {
  readonly seq: number
  readonly attempt?: number
  readonly derived: boolean
  readonly context: ModelContextState
}

/** The context as it stands, and as it stood at the last request. */
export interface LastRequestState {
  readonly context: ModelContextState
  readonly last: LastRequestParts | undefined
}

/** Keeps the context of the newest `request/sent`; in a log without one, that of just before the newest answer. */
export const lastRequestProjection: Projection<LastRequestState> = {
  name: 'lastRequest',
  version: 1,
  initial: () => ({ context: modelContextProjection.initial(), last: undefined }),
  apply(state: LastRequestState, event: AnySessionEvent): LastRequestState {
    const context = modelContextProjection.apply(state.context, event)
    const last = nextLast(state, event)
    return context === state.context && last === state.last ? state : { context, last }
  },
  save({ context, last }: LastRequestState): unknown {
    const saved = modelContextProjection.save?.(context)
    if (last === undefined) return { context: saved, last: null }
    const { header, surface } = last.context
    // Most messages of the last request are still live: they are named by their number, not stored twice.
    const prefix = surface.commonPrefix(context.surface)
    const sameHeader = header === context.header
    return {
      context: saved,
      last: {
        seq: last.seq,
        attempt: last.attempt,
        derived: last.derived,
        header: sameHeader ? 'current' : (header ?? null),
        prefix,
        rest: surface.slice(prefix),
      },
    }
  },
  load(saved: unknown): LastRequestState {
    if (!isRecord(saved)) return refuse('a last request')
    const context = modelContextProjection.load?.(saved.context) ?? refuse('a model context')
    return { context, last: saved.last === null ? undefined : loadLast(saved.last, context) }
  },
}

export function lastRequestOf(parts: LastRequestParts): LastRequest {
  return { ...parts, context: modelContextOf(parts.context) }
}

function nextLast({ context, last }: LastRequestState, event: AnySessionEvent): LastRequestParts | undefined {
  if (isEventOf(event, 'request/sent')) return { seq: event.seq, attempt: event.data.attempt, derived: false, context }
  if (event.type === 'assistant/message' && event.surface === undefined && last?.derived !== false)
    return { seq: event.seq, derived: true, context }
  return last
}

function loadLast(saved: unknown, context: ModelContextState): LastRequestParts {
  if (!isRecord(saved)) return refuse('a last request')
  const { seq, attempt, derived, header, prefix, rest } = saved
  if (!isSeq(seq) || !isOptional(attempt, isSeq) || typeof derived !== 'boolean') return refuse('a last request')
  if (!isSeq(prefix) || prefix > context.surface.length) return refuse('a prefix')
  const tail = loadEntries(rest)
  return {
    seq,
    ...(attempt !== undefined && { attempt }),
    derived,
    context: {
      header: header === 'current' ? context.header : requestHeaderProjection.load?.(header),
      surface:
        tail.length === 0
          ? context.surface.prefix(prefix)
          : AppendList.of([...context.surface.prefix(prefix), ...tail]),
    },
  }
}
