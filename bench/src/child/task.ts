/** What a child process is asked for, and what it answers: one JSON object each. */
export type Task = TaskPlace &
  (
    | { readonly kind: 'idle' }
    | { readonly kind: 'phases' }
    | { readonly kind: 'resume'; readonly id: string }
    | { readonly kind: 'stream'; readonly id: string }
    | { readonly kind: 'turns'; readonly seconds: number; readonly eventsPerSecond: number; readonly stored: boolean }
  )

interface TaskPlace {
  /** Module that exports the backend as `harness`. */
  readonly module: string
  readonly location: string
}

export interface MemoryAnswer {
  /** Most bytes of memory that this process ever had resident. */
  readonly peakBytes: number
}

export interface TurnsAnswer {
  /** Event-loop delay in milliseconds, the timer's own resolution taken off. */
  readonly delayP50: number
  readonly delayP99: number
  readonly delayMax: number
  /** Milliseconds of `append`, and of the awaited checkpoints. */
  readonly appendP50: number
  readonly appendP99: number
  readonly checkpointP50: number
  readonly checkpointP99: number
  readonly events: number
}
