/** What scenarios share: stores made on demand and removed again, whatever happens in between. */
import fs from 'node:fs'
import path from 'node:path'
import {
  type AnySessionEvent,
  FORMAT_VERSION,
  type PersistenceOptions,
  type SessionHeader,
  type SessionPersistence,
} from 'session-persistence'
import type { BenchBackend, BenchMedium } from '../backend/bench-backend.ts'
import { eventPages, type LogInput } from '../input/generated-log.ts'
import type { RoundPlan } from '../measure/interleave.ts'
import { writeParseFile } from '../reference/bare-replay.ts'
import type { Scale } from './scale.ts'
import type { ScenarioContext, StoredLog } from './scenario.ts'

type Cleanup = () => PromiseLike<void> | void

/** Events a batch of a stored log: a turn at a time, and past the point where packing pays. */
const STORED_BATCH = 100

export interface ContextOptions {
  readonly backends: readonly BenchBackend[]
  readonly scale: Scale
  readonly directory: string
  readonly signal: AbortSignal | undefined
  readonly progress: (text: string) => void
}

/** Runs the latest first, all of them; then throws the first failure. */
async function runAll(cleanups: Cleanup[]): Promise<void> {
  const failures: unknown[] = []
  for (let next = cleanups.pop(); next !== undefined; next = cleanups.pop()) {
    try {
      await next()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

export class RunContext implements ScenarioContext {
  readonly scale: Scale
  readonly signal: AbortSignal | undefined
  readonly progress: (text: string) => void
  readonly #root: string
  #directory: string | undefined
  #directories = 0
  #backends: readonly BenchBackend[]
  readonly #ofScenario: Cleanup[] = []
  readonly #ofRun: Cleanup[] = []
  readonly #stored: Map<string, Promise<StoredLog>> = new Map()
  readonly #parseFiles: Map<string, { readonly file: string; readonly bytes: number }> = new Map()

  constructor(options: ContextOptions) {
    this.#backends = options.backends
    this.scale = options.scale
    this.#root = options.directory
    this.signal = options.signal
    this.progress = options.progress
  }

  get backends(): readonly BenchBackend[] {
    return this.#backends
  }

  get directory(): string {
    if (this.#directory === undefined) {
      this.#directory = path.join(this.#root, `scenario-${++this.#directories}`)
      fs.mkdirSync(this.#directory)
    }
    return this.#directory
  }

  /** Scenarios measure these from now on. */
  narrow(backends: readonly BenchBackend[]): void {
    this.#backends = backends
  }

  plan(length: 'short' | 'long' = 'short'): RoundPlan {
    const { scale, signal } = this
    return length === 'short'
      ? { rounds: scale.rounds, warmUp: scale.warmUp, signal }
      : { rounds: scale.longRounds, warmUp: scale.longWarmUp, signal }
  }

  async medium(backend: BenchBackend): Promise<BenchMedium> {
    const medium = await backend.createMedium()
    this.defer(() => medium.destroy?.())
    return medium
  }

  async open(backend: BenchBackend, options?: PersistenceOptions): Promise<SessionPersistence> {
    const persistence = await (await this.medium(backend)).open(options)
    // Releases what it holds also when its last flush fails.
    this.defer(() => persistence[Symbol.asyncDispose]())
    return persistence
  }

  defer(cleanup: Cleanup): void {
    this.#ofScenario.push(cleanup)
  }

  stored(backend: BenchBackend, input: LogInput, count: number, state = 'as imported'): Promise<StoredLog> {
    const key = `${backend.name} ${input.name} ${count} ${state}`
    const known = this.#stored.get(key)
    if (known !== undefined) return known
    this.progress(`storing ${count.toLocaleString('en-US')} ${input.name} events in ${backend.name}`)
    const original = this.#stored.get(`${backend.name} ${input.name} ${count} as imported`)
    const stored = this.#store(backend, input, count, original)
    this.#stored.set(key, stored)
    return stored
  }

  parseFile(input: LogInput, count: number): { readonly file: string; readonly bytes: number } {
    const key = `parse-${input.name}-${count}`
    const known = this.#parseFiles.get(key)
    if (known !== undefined) return known
    const file = path.join(this.#root, `${key}.json`)
    const made = { file, bytes: writeParseFile(file, input, count) }
    this.#ofRun.push(() => fs.rmSync(file, { force: true }))
    this.#parseFiles.set(key, made)
    return made
  }

  /** Ends a scenario. */
  async endScenario(): Promise<void> {
    const directory = this.#directory
    this.#directory = undefined
    if (directory !== undefined) this.#ofScenario.unshift(() => fs.rmSync(directory, { recursive: true, force: true }))
    await runAll(this.#ofScenario)
  }

  /** Ends the run. */
  async close(): Promise<void> {
    await this.endScenario()
    await runAll(this.#ofRun)
  }

  async #store(
    backend: BenchBackend,
    input: LogInput,
    count: number,
    original?: Promise<StoredLog>,
  ): Promise<StoredLog> {
    const copied = await (await original)?.medium.copy?.()
    const medium = copied ?? (await backend.createMedium())
    this.#ofRun.push(() => medium.destroy?.())
    const persistence = await medium.open()
    this.#ofRun.push(() => persistence.close())
    const header: SessionHeader = {
      version: FORMAT_VERSION,
      id: `${input.name}-${count}`,
      createdAt: 1_750_000_000_000,
      messageFormat: 'plain',
    }
    if (copied === undefined) await persistence.importLog({ header, events: pages(input, count) })
    const { id } = header
    const storage = medium.storage?.()
    if (storage !== undefined) this.#ofRun.push(() => storage.close())
    return { id, medium, persistence, storage, bytes: (await persistence.inspect(id)).bytes }
  }
}

async function* pages(input: LogInput, count: number): AsyncGenerator<readonly AnySessionEvent[]> {
  yield* eventPages(input, count, STORED_BATCH)
}
