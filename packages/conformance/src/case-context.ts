import { createHash } from 'node:crypto'
import type { BackendCapabilities, PersistenceOptions, SessionPersistence } from '@session-persistence/core'
import { type CaseContext, type CaseMedium, CaseNotApplicable, CaseSkipped, CLOCK_START } from './conformance-case.ts'
import { withDeadline } from './deadline.ts'
import { type Harness, HarnessError, type Medium } from './harness.ts'
import type { MediumSource } from './medium-source.ts'
import { openFilesOf } from './open-files.ts'
import { OperationHistory, recorded } from './operation-history.ts'
import { seededRandom } from './seeded-random.ts'
import { waitUntil } from './wait-until.ts'
import { type SpawnOptions, spawnWorker, type WorkerProcess } from './worker-process.ts'

/** Longest wait for a handle that a failed case left behind. */
const RELEASE_DEADLINE_MS = 5_000

interface CaseFacts {
  readonly harness: Harness
  readonly source: MediumSource
  readonly capabilities: BackendCapabilities
  readonly effort: 'quick' | 'full'
  readonly seed: number
}

/** One case's context, and what must be released after it. */
export class RunningCase {
  readonly context: CaseContext
  readonly history: OperationHistory = new OperationHistory()
  readonly #harness: Harness
  readonly #source: MediumSource
  readonly #media: Medium[] = []
  readonly #persistences: SessionPersistence[] = []
  readonly #workers: WorkerProcess[] = []
  readonly #tried = new Map<string, number>()
  #observed: ReturnType<typeof createHash> | undefined
  #over = false
  #now = CLOCK_START

  private constructor(facts: CaseFacts, first: Medium) {
    this.#harness = facts.harness
    this.#source = facts.source
    const medium = this.#adopt(first)
    this.context = {
      capabilities: facts.capabilities,
      effort: facts.effort,
      random: seededRandom(facts.seed),
      medium,
      open: (options) => medium.open(options),
      newMedium: async () => {
        this.#expectRunning()
        return this.#adopt(await this.#source.create())
      },
      spawn: (task, options) => this.#spawn(medium, task, options),
      spawns: facts.harness.module !== undefined && facts.harness.openAt !== undefined && first.location !== undefined,
      skip: (reason) => {
        throw new CaseSkipped(reason)
      },
      doesNotApply: (reason) => {
        throw new CaseNotApplicable(reason)
      },
      note: (text) => this.history.note(text),
      tried: (what, count) => {
        this.#tried.set(what, count + (this.#tried.get(what) ?? 0))
      },
      observe: (text) => {
        this.#observed ??= createHash('sha256')
        this.#observed.update(text).update('\n')
      },
    }
  }

  static async start(facts: CaseFacts): Promise<RunningCase> {
    return new RunningCase(facts, await facts.source.create())
  }

  /** Grows with every operation that begins and every line that another process says. */
  progress(): number {
    return this.#workers.reduce((sum, { lines }) => sum + lines.length, this.history.count)
  }

  /** By what it counts; undefined when the case counts nothing. */
  tried(): Readonly<Record<string, number>> | undefined {
    return this.#tried.size === 0 ? undefined : Object.fromEntries(this.#tried)
  }

  /** SHA-256 of everything observed; undefined when the case observes nothing. */
  digest(): string | undefined {
    return this.#observed?.copy().digest('hex')
  }

  #adopt(medium: Medium): CaseMedium {
    this.#media.push(medium)
    const records = this.#source.recordsOf(medium)
    return {
      ...medium,
      ...(records === undefined ? {} : { records }),
      listsFiles: medium.files !== undefined,
      open: async (options: PersistenceOptions = {}) => {
        this.#expectRunning()
        const opening = (): Promise<SessionPersistence> => {
          return medium.open({ clock: () => this.#tick(), onFailure: () => {}, ...options })
        }
        const persistence = await this.history.heard(opening)
        this.#persistences.push(persistence)
        return recorded(persistence, this.history)
      },
      files: async () => {
        const files = await this.#source.filesOf(medium)
        if (files === undefined) throw new CaseSkipped('the medium has no `files`')
        return files
      },
    }
  }

  #spawn(medium: Medium, task: Parameters<typeof spawnWorker>[2], options: SpawnOptions = {}): WorkerProcess {
    if (this.#harness.module === undefined || medium.location === undefined) {
      throw new HarnessError('The process tier needs `module`, `openAt` and `location`.')
    }
    this.#expectRunning()
    const name = this.history.nextProcess()
    const worker = spawnWorker(this.#harness.module, medium.location, task, {
      ...options,
      heard: (text) => this.history.note(`${name}: ${text}`),
    })
    this.#workers.push(worker)
    return worker
  }

  /** A case that missed its deadline goes on by itself: it must not make anything that nobody would release. */
  #expectRunning(): void {
    if (this.#over) throw new CaseSkipped('the case is over')
  }

  #tick(): number {
    this.#now += 1000
    return this.#now
  }

  /** Closes what the case left open. A broken backend may fail here too: the verdict is already known. */
  async release(): Promise<void> {
    this.#over = true
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
  }

  /** After {@link release}: a file of a medium that is still open in this process, where the system can tell. */
  async leakedFile(): Promise<string | undefined> {
    for (const medium of this.#media) {
      const files = medium.location === undefined ? ((await this.#source.filesOf(medium)) ?? []) : []
      const leaked = (): readonly string[] => openFilesOf(medium.location, files)
      // Closing may still be under way in another thread.
      if (!(await waitUntil(async () => leaked().length === 0))) return leaked()[0]
    }
    return undefined
  }

  async destroy(): Promise<void> {
    for (const medium of this.#media) await this.#source.destroy(medium)
  }
}
