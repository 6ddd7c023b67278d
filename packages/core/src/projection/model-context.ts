import type { AnySessionEvent } from '../event/event.ts'
import { isRecord } from '../event/json-shape.ts'
import type { Projection } from './projection.ts'
import type { RequestHeaderState } from './request-header.ts'
import { requestHeaderProjection } from './request-header.ts'
import { refuse } from './saved-state.ts'
import type { SurfaceState } from './surface.ts'
import { surfaceProjection } from './surface.ts'

/** What the model is given: the latest request environment and the live messages. */
export interface ModelContext {
  readonly model?: string
  readonly config?: unknown
  readonly system?: unknown
  readonly tools?: unknown
  readonly messages: readonly unknown[]
}

/** The parts that a model context is made of. */
export interface ModelContextState {
  readonly header: RequestHeaderState
  readonly surface: SurfaceState
}

/** Latest request header plus live messages. */
export const modelContextProjection: Projection<ModelContextState> = {
  name: 'modelContext',
  version: 1,
  initial: () => ({
    header: requestHeaderProjection.initial(),
    surface: surfaceProjection.initial(),
  }),
  apply(state: ModelContextState, event: AnySessionEvent): ModelContextState {
    const header = requestHeaderProjection.apply(state.header, event)
    const surface = surfaceProjection.apply(state.surface, event)
    return header === state.header && surface === state.surface ? state : { header, surface }
  },
  save: (state: ModelContextState) => ({ header: state.header ?? null, surface: state.surface.slice() }),
  load(saved: unknown): ModelContextState {
    if (!isRecord(saved)) return refuse('a model context')
    const header = requestHeaderProjection.load?.(saved.header)
    const surface = surfaceProjection.load?.(saved.surface) ?? refuse('a surface')
    return { header, surface }
  },
}

/** Puts the parts together in the form that `checkpoint` compares. */
export function modelContextOf({ header, surface }: ModelContextState): ModelContext {
  const messages = surface.map((entry) => entry.message)
  if (header === undefined) return { messages }
  const { seq: _, ...environment } = header
  return { ...environment, messages }
}
