import type { PersistenceOptions, SessionPersistence, SessionStorage } from 'session-persistence'

/** Which column of the goals a backend is held to. */
export type GoalColumn = 'jsonl' | 'jsonl-zstd' | 'sqlite'

/** One empty place where sessions live: a medium of the conformance harness, and what only a measurement asks for. */
export interface BenchMedium {
  /** May be called again and again. */
  readonly open: (options?: PersistenceOptions) => Promise<SessionPersistence>
  /** What `openAt` needs to find this medium from another process. */
  readonly location?: string
  readonly destroy?: () => Promise<void> | void
  /** A storage over the same medium, for what is measured at the port below the sessions. */
  readonly storage?: () => SessionStorage
  /** A medium with the same sessions, where that takes less time than storing them again. Nothing may be written meanwhile. */
  readonly copy?: () => Promise<BenchMedium>
  /** Merges the small batches of a closed session, where the backend can. */
  readonly seal?: (id: string) => Promise<unknown>
}

/**
 * A backend to be measured. Every conformance harness is one (the kit itself is not needed to measure); `storage`,
 * `column` and `packs` add to what is measured. With `module`, `openAt` and `location`, memory, event loop and system
 * calls are measured too, each in a process of its own.
 */
export interface BenchBackend {
  readonly name: string
  /** A new empty medium at every call. */
  readonly createMedium: () => Promise<BenchMedium> | BenchMedium
  /** `import.meta.url` of a module that plain Node can import and that exports this backend as `harness`. */
  readonly module?: string
  readonly openAt?: (location: string, options?: PersistenceOptions) => Promise<SessionPersistence>
  readonly column?: GoalColumn
  /** True when runs of deltas are stored as one record: some goals are for packed logs, some for unpacked ones. */
  readonly packs?: boolean
  /** A new empty medium whose flushes survive the death of the process and no power loss, where the backend has that. */
  readonly createProcessMedium?: () => Promise<BenchMedium> | BenchMedium
  /** Why it cannot be opened on this machine; undefined where it can. */
  readonly unavailable?: () => Promise<string | undefined> | string | undefined
}
