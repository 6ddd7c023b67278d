/** What the model is given: the latest request environment and the live messages. */
export interface ModelContext {
  readonly model?: string
  readonly config?: unknown
  readonly system?: unknown
  readonly tools?: unknown
  readonly messages: readonly unknown[]
}
