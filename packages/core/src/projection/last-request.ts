import type { ModelContext } from './model-context.ts'

/** What the model saw at its last request. */
export interface LastRequest {
  /** Seq of `request/sent`; for a derived one, of the newest `assistant/message`. */
  readonly seq: number
  readonly attempt?: number
  /** True when the log holds no `request/sent` and the context was taken just before the newest answer. */
  readonly derived: boolean
  readonly context: ModelContext
}
