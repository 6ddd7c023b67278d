import type { PersistenceOptions, SessionPersistence, SessionStorage } from 'session-persistence'
import type { BenchBackend, BenchMedium } from '../backend/bench-backend.ts'
import type { LogInput } from '../input/generated-log.ts'
import type { RoundPlan } from '../measure/interleave.ts'
import type { Row } from '../report/row.ts'
import type { Scale } from './scale.ts'

/** A generated log, stored in a backend once a run. */
export interface StoredLog {
  readonly id: string
  readonly medium: BenchMedium
  readonly persistence: SessionPersistence
  /** The port over the same medium, where the backend has one. */
  readonly storage: SessionStorage | undefined
  readonly bytes: number
}

/** What a scenario works with. What is made through it is removed when the scenario ends, stored logs when the run does. */
export interface ScenarioContext {
  readonly backends: readonly BenchBackend[]
  readonly scale: Scale
  /** Directory for the files of the references; a new empty one for every run of a scenario. */
  readonly directory: string
  readonly signal: AbortSignal | undefined
  /** Rounds of short samples, or of long ones. */
  plan(length?: 'short' | 'long'): RoundPlan
  /** A new empty medium of a backend. */
  medium(backend: BenchBackend): Promise<BenchMedium>
  /** A persistence over a new empty medium. */
  open(backend: BenchBackend, options?: PersistenceOptions): Promise<SessionPersistence>
  /** Runs when the scenario ends, the latest first. */
  defer(cleanup: () => PromiseLike<void> | void): void
  /**
   * The first `count` events of an input in a backend; stored at the first call, shared by all later ones of the same
   * `state`. Whoever changes such a log names a state of its own.
   */
  stored(backend: BenchBackend, input: LogInput, count: number, state?: string): Promise<StoredLog>
  /** The file of reference P with the same events, and their bytes as JSON lines. */
  parseFile(input: LogInput, count: number): { readonly file: string; readonly bytes: number }
  /** Says what is being done, for people who wait. */
  progress(text: string): void
}

export interface Scenario {
  readonly id: string
  /** One sentence: what is measured against what. */
  readonly description: string
  /** One sentence: why its numbers say less than others. */
  readonly caution?: string
  run(context: ScenarioContext): Promise<readonly Row[]>
}

/** Backends whose logs outlive this process: only these have bytes on a disk, and can be reopened elsewhere. */
export function lasting(backends: readonly BenchBackend[]): readonly BenchBackend[] {
  return backends.filter((backend) => backend.openAt !== undefined)
}
