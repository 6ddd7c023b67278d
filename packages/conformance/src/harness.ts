import type { PersistenceOptions, SessionPersistence } from '@session-persistence/core'
import type { StoredRecords } from './stored-records.ts'

/** One empty place where sessions live: a directory, a database, an object in memory. */
export interface Medium {
  /** May be called again and again: a second handle, a reopening after a crash. Options must reach the backend. */
  readonly open: (options?: PersistenceOptions) => Promise<SessionPersistence>
  /** What `openAt` of the harness needs to find this medium from another process. With it the process tier runs. */
  readonly location?: string
  /** Absolute paths of all files of the medium, links included. With it, or with `records`, the medium tier runs. */
  readonly files?: () => Promise<readonly string[]> | readonly string[]
  /**
   * Whether a file is one that the engine under the backend makes and removes by itself, such as a write-ahead log or
   * shared memory. The kit opens it only while nothing of this process has the medium open, and expects no reader to
   * leave it as it was.
   */
  readonly isEngineFile?: (path: string) => boolean
  /** The stored records of a session, where a session is not a file that grows. */
  readonly records?: StoredRecords
  /**
   * Changes the format version that is stored with a closed session, its checksum included. With it the version gate
   * is tried on stored bytes.
   */
  readonly stampVersion?: (id: string, version: number) => Promise<void>
  /** Removes the medium. Called once, after everything opened from it was closed. */
  readonly destroy?: () => Promise<void> | void
}

/** What the implementer of a backend writes, about fifteen lines. */
export interface Harness {
  /** Names the backend in the report. */
  readonly name: string
  /** A new empty medium at every call. */
  readonly createMedium: () => Promise<Medium> | Medium
  /**
   * `import.meta.url` of a module that plain Node can import and that exports this harness as `harness`. With `openAt`
   * and `location` it unlocks the process tier.
   */
  readonly module?: string
  /** Opens the medium with this `location`, in whatever process. */
  readonly openAt?: (location: string, options?: PersistenceOptions) => Promise<SessionPersistence>
  /**
   * Clauses that are known to fail, each with the address where that is tracked. They still run; one that passes by now
   * is red until it is taken off the list. A level with a known failure in it is not reached.
   */
  readonly knownFailures?: Readonly<Record<string, string>>
}

/** The harness, the medium or the kit is wrong, not the backend. The message says what to change. */
export class HarnessError extends Error {
  override readonly name = 'HarnessError'
}

/** Checks the form of a harness and returns it. Throws {@link HarnessError} with a sentence that says what to change. */
export function defineHarness(harness: Harness): Harness {
  const wrong = wrongHarness(harness)
  if (wrong !== undefined) throw new HarnessError(wrong)
  return harness
}

function wrongHarness(harness: unknown): string | undefined {
  if (typeof harness !== 'object' || harness === null) return 'A harness must be an object: defineHarness({ ... }).'
  const { name, createMedium, module, openAt, knownFailures } = harness as Readonly<Record<string, unknown>>
  if (typeof name !== 'string' || name === '') {
    return 'The harness needs a `name`: a non-empty string that names the backend in reports.'
  }
  if (typeof createMedium !== 'function') {
    return `Harness ${name} needs a function \`createMedium\` that returns a new empty medium with \`open\`.`
  }
  if (openAt !== undefined && typeof openAt !== 'function') {
    return `\`openAt\` of harness ${name} must be a function that opens the medium at a location.`
  }
  if (module !== undefined && (typeof module !== 'string' || !/^[a-z]+:/.test(module))) {
    return `\`module\` of harness ${name} must be \`import.meta.url\` of the module that exports the harness.`
  }
  if (module !== undefined && openAt === undefined) {
    return `Harness ${name} has \`module\` but no \`openAt(location, options)\`: another process could not open the medium.`
  }
  return wrongKnownFailures(knownFailures, name)
}

function wrongKnownFailures(knownFailures: unknown, name: string): string | undefined {
  if (knownFailures === undefined) return undefined
  if (typeof knownFailures !== 'object' || knownFailures === null || Array.isArray(knownFailures)) {
    return `\`knownFailures\` of harness ${name} must be an object: { 'LIST-2': 'https://...' }.`
  }
  for (const [id, address] of Object.entries(knownFailures)) {
    if (typeof address === 'string' && URL.canParse(address)) continue
    return `\`knownFailures\` of harness ${name} must give ${id} the address where its failure is tracked, such as 'https://...'.`
  }
  return undefined
}
