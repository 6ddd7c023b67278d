import type { AnySessionEvent } from '../event/event.ts'
import type { LastRequestState } from './last-request.ts'
import { lastRequestProjection } from './last-request.ts'
import { modelContextProjection } from './model-context.ts'
import type { Projection } from './projection.ts'
import { requestHeaderProjection } from './request-header.ts'
import type { SummaryState } from './summary.ts'
import { summaryProjection } from './summary.ts'
import { surfaceProjection } from './surface.ts'
import type { TurnsState } from './turns.ts'
import { turnsProjection } from './turns.ts'
import type { UsageState } from './usage.ts'
import { usageProjection } from './usage.ts'

/** The states that every fold keeps. The last request's holds the context, and with it header and surface. */
export interface CoreStates {
  readonly turns: TurnsState
  readonly lastRequest: LastRequestState
  readonly usage: UsageState
  readonly summary: SummaryState
}

/** Every projection whose state can be asked for without giving it at open. */
export const CORE_PROJECTIONS: readonly Pick<Projection, 'name' | 'version'>[] = [
  surfaceProjection,
  requestHeaderProjection,
  modelContextProjection,
  lastRequestProjection,
  turnsProjection,
  usageProjection,
  summaryProjection,
]

export function initialCore(): CoreStates {
  return {
    turns: turnsProjection.initial(),
    lastRequest: lastRequestProjection.initial(),
    usage: usageProjection.initial(),
    summary: summaryProjection.initial(),
  }
}

export function applyCore(core: CoreStates, event: AnySessionEvent): CoreStates {
  return {
    turns: turnsProjection.apply(core.turns, event),
    lastRequest: lastRequestProjection.apply(core.lastRequest, event),
    usage: usageProjection.apply(core.usage, event),
    summary: summaryProjection.apply(core.summary, event),
  }
}

export function coreStateOf(core: CoreStates, name: string): unknown {
  const { context } = core.lastRequest
  switch (name) {
    case surfaceProjection.name:
      return context.surface
    case requestHeaderProjection.name:
      return context.header
    case modelContextProjection.name:
      return context
    case lastRequestProjection.name:
      return core.lastRequest
    case turnsProjection.name:
      return core.turns
    case usageProjection.name:
      return core.usage
    default:
      return core.summary
  }
}
