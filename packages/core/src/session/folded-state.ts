/** What can be answered from the fold alone: the same for the one writer and for a read-only view. */
import { type ArgumentCheck, must } from '../argument-checks.ts'
import type { SessionHeader } from '../event/header.ts'
import type { LastRequest } from '../projection/last-request.ts'
import type { LogFold } from '../projection/log-fold.ts'
import type { ModelContext } from '../projection/model-context.ts'
import type { Projection } from '../projection/projection.ts'
import type { SurfaceEntry } from '../projection/surface.ts'
import type { UsageState } from '../projection/usage.ts'
import type { OpenCall } from '../recovery/open-calls.ts'
import type { SessionState } from './session.ts'
import { summaryFacts } from './summary-document.ts'

const aProjection: ArgumentCheck<Projection> = must(
  'a projection',
  (value) => typeof (value as Projection | null)?.name === 'string',
)

export abstract class FoldedState implements SessionState {
  readonly header: SessionHeader
  protected abstract readonly fold: LogFold

  constructor(header: SessionHeader) {
    this.header = header
  }

  get nextSeq(): number {
    return this.fold.nextSeq
  }

  get openTurn(): SessionState['openTurn'] {
    return this.fold.openTurn
  }

  messages(): readonly unknown[] {
    return this.fold.messages()
  }

  surface(): readonly SurfaceEntry[] {
    return this.fold.surface()
  }

  modelContext(): ModelContext {
    return this.fold.modelContext()
  }

  lastRequest(): LastRequest | undefined {
    return this.fold.lastRequest()
  }

  openCalls(): readonly OpenCall[] {
    return this.fold.openCalls()
  }

  usage(): UsageState {
    return this.fold.usage()
  }

  summary(): ReturnType<SessionState['summary']> {
    return summaryFacts(this.header, this.fold)
  }

  state<State>(projection: Projection<State>): State {
    return this.fold.state<State>(aProjection(projection, 'the projection') as Projection<State>)
  }
}
