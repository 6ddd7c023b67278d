import type { BackendDescription } from '@session-persistence/core'
import { MediumSource, RunningCase } from './case-context.ts'
import { ALL_CASES } from './cases/all-cases.ts'
import { CaseSkipped, type ConformanceCase, type Family, type Tier } from './conformance-case.ts'
import { withDeadline } from './deadline.ts'
import { Violation } from './expectation.ts'
import { type Harness, HarnessError } from './harness.ts'
import { type CaseResult, type ConformanceReport, summarize } from './report.ts'
import { seedOf } from './seeded-random.ts'
import { workerIsBuilt } from './worker-process.ts'

export interface RunOptions {
  /** Default all. */
  readonly families?: readonly Family[]
  /** Single clauses; default all of the families. */
  readonly ids?: readonly string[]
  /** Default 1. The same seed gives the same verdicts. */
  readonly seed?: number
  /** `quick` tries a sample of the damaged media; default `full`. */
  readonly effort?: 'quick' | 'full'
  /** Milliseconds that any one case may take; default what the case says, 30,000 unless it says more. */
  readonly caseDeadlineMs?: number
}

/** Milliseconds that a case may take unless it says more. */
export const CASE_DEADLINE_MS = 30_000

/** Runs the contract against one backend. Never rejects for what a backend or a harness does: the report says it. */
export async function runConformance(harness: Harness, options: RunOptions = {}): Promise<ConformanceReport> {
  const run = startRun(harness, options)
  for (const conformanceCase of run.cases) {
    const verdict = await run.runCase(conformanceCase)
    if (verdict === 'harness-error') break
  }
  return run.report()
}

/** One run, case by case: what the adapters for test runners drive. */
export interface ConformanceRun {
  readonly cases: readonly ConformanceCase[]
  runCase(conformanceCase: ConformanceCase): Promise<CaseResult | 'harness-error'>
  report(): ConformanceReport
}

export function startRun(harness: Harness, options: RunOptions = {}): ConformanceRun {
  return new CaseByCase(harness, options)
}

/** What the first look at a medium tells. */
interface Probe {
  readonly description: BackendDescription
  /** Tiers that cannot be exercised, with the reason. */
  readonly missing: ReadonlyMap<Tier, string>
}

class CaseByCase implements ConformanceRun {
  readonly cases: readonly ConformanceCase[]
  readonly #harness: Harness
  readonly #seed: number
  readonly #effort: 'quick' | 'full'
  readonly #caseDeadlineMs: number | undefined
  readonly #source: MediumSource
  readonly #results: CaseResult[] = []
  #probe: Promise<Probe> | undefined
  #description: BackendDescription | undefined
  #missing: ReadonlyMap<Tier, string> = new Map()
  #harnessError: string | undefined

  constructor(harness: Harness, options: RunOptions) {
    this.#harness = harness
    this.#seed = options.seed ?? 1
    this.#effort = options.effort ?? 'full'
    this.#caseDeadlineMs = options.caseDeadlineMs
    this.#source = new MediumSource(harness)
    this.cases = ALL_CASES.filter(({ id, family }) => {
      return (options.families?.includes(family) ?? true) && (options.ids?.includes(id) ?? true)
    })
  }

  async runCase(conformanceCase: ConformanceCase): Promise<CaseResult | 'harness-error'> {
    const start = performance.now()
    try {
      this.#probe ??= probe(this.#harness, this.#source)
      const { description, missing } = await this.#probe
      this.#description = description
      this.#missing = missing
      const { id, level, family, title, needs } = conformanceCase
      const verdict = reasonToSkip(conformanceCase, description, missing) ?? (await this.#verdictOf(conformanceCase))
      const durationMs = performance.now() - start
      const result: CaseResult = { id, level, family, tier: needs.tier, title, ...verdict, durationMs }
      this.#results.push(result)
      return result
    } catch (error) {
      if (!(error instanceof HarnessError)) throw error
      this.#harnessError = error.message
      return 'harness-error'
    }
  }

  async #verdictOf(conformanceCase: ConformanceCase): Promise<Pick<CaseResult, 'status' | 'message'>> {
    const running = await RunningCase.start({
      harness: this.#harness,
      source: this.#source,
      capabilities: (await (this.#probe as Promise<Probe>)).description.capabilities,
      effort: this.#effort,
      seed: seedOf(this.#seed, conformanceCase.id),
    })
    const deadlineMs = this.#caseDeadlineMs ?? conformanceCase.needs.timeoutMs ?? CASE_DEADLINE_MS
    try {
      await withDeadline(conformanceCase.run(running.context), deadlineMs, () => {
        return new Violation(`nothing happened within ${deadlineMs / 1000} s: something never settles`)
      })
      return { status: 'passed' }
    } catch (error) {
      if (error instanceof HarnessError) throw error
      if (error instanceof CaseSkipped) return { status: 'skipped', message: error.message }
      return { status: 'failed', message: describeFailure(error) }
    } finally {
      await running.release()
    }
  }

  report(): ConformanceReport {
    return summarize({
      harness: this.#harness.name,
      backend: this.#description,
      seed: this.#seed,
      effort: this.#effort,
      harnessError: this.#harnessError,
      results: this.#results,
      tierReasons: this.#missing,
    })
  }
}

/** A violation speaks for itself; anything else was thrown where the case expected none. */
function describeFailure(error: unknown): string {
  if (error instanceof Violation) return error.message
  if (!(error instanceof Error)) return `unexpected throw of ${typeof error}`
  const code = 'code' in error ? ` ${String(error.code)}` : ''
  return `unexpected ${error.name}${code}: ${error.message}`
}

function reasonToSkip(
  { needs }: ConformanceCase,
  { capabilities }: BackendDescription,
  missing: ReadonlyMap<Tier, string>,
): Pick<CaseResult, 'status' | 'message'> | undefined {
  const reason = missing.get(needs.tier)
  if (reason !== undefined) return { status: 'skipped', message: `tier ${needs.tier} not exercised: ${reason}` }
  const declared: Readonly<Record<string, unknown>> = { ...capabilities }
  for (const [capability, levels] of Object.entries(needs.capabilities ?? {})) {
    const level = declared[capability]
    if (!(levels as readonly unknown[]).includes(level)) {
      return { status: 'skipped', message: `says nothing of ${capability} '${String(level)}'` }
    }
  }
  return undefined
}

/** Opens one medium to see what the backend declares and which tiers the harness unlocks. */
async function probe(harness: Harness, source: MediumSource): Promise<Probe> {
  const medium = await source.create()
  try {
    const persistence = await medium.open()
    const { description } = persistence
    if (typeof description !== 'object' || typeof description?.capabilities !== 'object') {
      throw new HarnessError('What `open` returns has no `description` with `capabilities`: not a SessionPersistence?')
    }
    const page = await persistence.list()
    if (page.sessions.length > 0) {
      throw new HarnessError(`createMedium of ${harness.name} returned a medium that already holds sessions.`)
    }
    await persistence.close()
    return { description, missing: missingTiers(harness, medium.location, medium.files !== undefined) }
  } catch (error) {
    if (error instanceof HarnessError) throw error
    const sentence = error instanceof Error ? error.message : String(error)
    throw new HarnessError(`The first medium of ${harness.name} could not be opened, listed and closed: ${sentence}`)
  } finally {
    await medium.destroy?.()
  }
}

function missingTiers(harness: Harness, location: string | undefined, hasFiles: boolean): ReadonlyMap<Tier, string> {
  const missing = new Map<Tier, string>()
  if (harness.module === undefined || harness.openAt === undefined) {
    missing.set('process', 'the harness has no `module` and `openAt`')
  } else if (location === undefined) {
    missing.set('process', 'the medium has no `location`')
  } else if (!workerIsBuilt()) {
    missing.set('process', 'the worker of this kit is not built')
  }
  if (!hasFiles) missing.set('medium', 'the medium has no `files`')
  return missing
}
