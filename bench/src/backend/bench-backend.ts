import type { Harness, Medium } from '@session-persistence/conformance'
import type { SessionStorage } from 'session-persistence'

/** Which column of the goals a backend is held to. */
export type GoalColumn = 'jsonl' | 'jsonl-zstd' | 'sqlite'

/** A medium of the conformance harness, and the port below the sessions where the backend has one. */
export interface BenchMedium extends Medium {
  /** A storage over the same medium, for what is measured at the port. */
  readonly storage?: () => SessionStorage
  /** Merges small batches of a closed session, where the backend can. */
  readonly seal?: (id: string) => Promise<unknown>
}

/**
 * A backend to be measured. Every conformance harness is one: `storage`, `column` and `packs` add to what is measured.
 * With `module`, `openAt` and `location`, memory and event-loop delay are measured too, each in a process of its own.
 */
export interface BenchBackend extends Omit<Harness, 'createMedium'> {
  readonly createMedium: () => Promise<BenchMedium> | BenchMedium
  readonly column?: GoalColumn
  /** True when runs of deltas are stored as one record: some goals are for packed logs, some for unpacked ones. */
  readonly packs?: boolean
  /** Why it cannot be opened on this machine; undefined where it can. */
  readonly unavailable?: () => Promise<string | undefined> | string | undefined
}
