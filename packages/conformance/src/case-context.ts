import type { BackendCapabilities, PersistenceOptions, SessionPersistence } from '@session-persistence/core'
import { type CaseContext, type CaseMedium, CaseSkipped, CLOCK_START } from './conformance-case.ts'
import { withDeadline } from './deadline.ts'
import { type Harness, HarnessError, type Medium } from './harness.ts'
import { seededRandom } from './seeded-random.ts'
import { spawnWorker, type WorkerProcess } from './worker-process.ts'

/** A harness that needs longer to make an empty place is broken or hangs. */
const MEDIUM_DEADLINE_MS = 10_000
/** Longest wait for a handle that a failed case left behind. */
const RELEASE_DEADLINE_MS = 5_000

/** Makes media for the whole run and notices when two are the same. */
export class MediumSource {
  readonly #harness: Harness
  readonly #objects = new WeakSet<Medium>()
  readonly #locations = new Set<string>()

  constructor(harness: Harness) {
    this.#harness = harness
  }

  async create(): Promise<Medium> {
    const { name } = this.#harness
    let medium: Medium
    try {
      medium = await withDeadline(Promise.resolve(this.#harness.createMedium()), MEDIUM_DEADLINE_MS, () => {
        return new HarnessError(`createMedium of ${name} did not return within ${MEDIUM_DEADLINE_MS / 1000} s.`)
      })
    } catch (error) {
      if (error instanceof HarnessError) throw error
      throw new HarnessError(`createMedium of ${name} threw: ${error instanceof Error ? error.message : String(error)}`)
    }
    if (typeof medium !== 'object' || medium === null || typeof medium.open !== 'function') {
      throw new HarnessError(`createMedium of ${name} must return an object with a function \`open(options)\`.`)
    }
    const known = this.#objects.has(medium) || (medium.location !== undefined && this.#locations.has(medium.location))
    if (known)
      throw new HarnessError(`createMedium of ${name} returned the same medium twice; each must be new and empty.`)
    this.#objects.add(medium)
    if (medium.location !== undefined) this.#locations.add(medium.location)
    return medium
  }
}

/** One case's context, and what must be released after it. */
export class RunningCase {
  readonly context: CaseContext
  readonly #media: Medium[] = []
  readonly #persistences: SessionPersistence[] = []
  readonly #workers: WorkerProcess[] = []
  readonly #source: MediumSource
  #now = CLOCK_START

  private constructor(facts: {
    readonly harness: Harness
    readonly source: MediumSource
    readonly medium: Medium
    readonly capabilities: BackendCapabilities
    readonly effort: 'quick' | 'full'
    readonly seed: number
  }) {
    this.#source = facts.source
    const medium = this.#adopt(facts.medium)
    this.context = {
      capabilities: facts.capabilities,
      effort: facts.effort,
      random: seededRandom(facts.seed),
      medium,
      open: (options) => medium.open(options),
      newMedium: async () => this.#adopt(await this.#source.create()),
      spawn: (task) => {
        if (facts.harness.module === undefined || medium.location === undefined) {
          throw new HarnessError('The process tier needs `module`, `openAt` and `location`.')
        }
        const worker = spawnWorker(facts.harness.module, medium.location, task)
        this.#workers.push(worker)
        return worker
      },
      skip: (reason) => {
        throw new CaseSkipped(reason)
      },
    }
  }

  static async start(facts: {
    readonly harness: Harness
    readonly source: MediumSource
    readonly capabilities: BackendCapabilities
    readonly effort: 'quick' | 'full'
    readonly seed: number
  }): Promise<RunningCase> {
    return new RunningCase({ ...facts, medium: await facts.source.create() })
  }

  #adopt(medium: Medium): CaseMedium {
    this.#media.push(medium)
    return {
      ...medium,
      open: async (options: PersistenceOptions = {}) => {
        const persistence = await medium.open({ clock: () => this.#tick(), onFailure: () => {}, ...options })
        this.#persistences.push(persistence)
        return persistence
      },
      files: async () => {
        if (medium.files === undefined) throw new HarnessError('The medium tier needs `files` on the medium.')
        return medium.files()
      },
    }
  }

  #tick(): number {
    this.#now += 1000
    return this.#now
  }

  /** Closes what the case left open. A broken backend may fail here too: the verdict is already known. */
  async release(): Promise<void> {
    for (const worker of this.#workers) await worker.kill()
    for (const persistence of this.#persistences) {
      await withDeadline(
        Promise.resolve()
          .then(() => persistence.close())
          .catch(() => {}),
        RELEASE_DEADLINE_MS,
        () => undefined,
      ).catch(() => {})
    }
    for (const medium of this.#media) await medium.destroy?.()
  }
}
