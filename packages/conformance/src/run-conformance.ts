import type { BackendDescription } from '@session-persistence/core'
import { notApplicable } from './applicability.ts'
import { RunningCase } from './case-context.ts'
import { knownVerdict, tryCase, type Verdict } from './case-verdict.ts'
import { ALL_CASES } from './cases/all-cases.ts'
import type { ConformanceCase, Tier } from './conformance-case.ts'
import { defineHarness, type Harness, HarnessError } from './harness.ts'
import { MediumSource } from './medium-source.ts'
import { leakError, type Probe, probeHarness } from './probe.ts'
import { type CaseResult, type ConformanceReport, summarize } from './report/conformance-report.ts'
import { chosenCases, type RunOptions, wrongOptions } from './run-options.ts'
import { seedOf } from './seeded-random.ts'
import { sentenceOf } from './short-value.ts'
import { wrongExtensions } from './tier-extension.ts'

/** Runs the contract against one backend. Never rejects for what a backend or a harness does: the report says it. */
export async function runConformance(harness: Harness, options: RunOptions = {}): Promise<ConformanceReport> {
  const run = startRun(harness, options)
  for (const conformanceCase of run.cases) {
    const verdict = await run.runCase(conformanceCase)
    if (verdict === 'harness-error') break
  }
  return run.report()
}

/** A verdict that needs no run of the case. */
export interface Beforehand {
  readonly status: 'skipped' | 'not-applicable'
  readonly message: string
}

/** One run, case by case: what the adapters for test runners drive. */
export interface ConformanceRun {
  readonly harness: Harness
  readonly cases: readonly ConformanceCase[]
  /** Looks at the harness before the first case does; its error, one sentence, when it has one. */
  prepare(): Promise<string | undefined>
  /** What becomes of a case that will not run, as far as {@link prepare} could tell. */
  beforehand(conformanceCase: ConformanceCase): Beforehand | undefined
  runCase(conformanceCase: ConformanceCase): Promise<CaseResult | 'harness-error'>
  report(): ConformanceReport
}

export function startRun(harness: Harness, options: RunOptions = {}): ConformanceRun {
  return new CaseByCase(harness, options)
}

class CaseByCase implements ConformanceRun {
  readonly harness: Harness
  readonly cases: readonly ConformanceCase[]
  readonly #all: readonly ConformanceCase[]
  readonly #options: RunOptions
  readonly #source: MediumSource
  readonly #results = new Map<string, CaseResult>()
  #probing: Promise<Probe> | undefined
  #description: BackendDescription | undefined
  #missing: ReadonlyMap<Tier, string> = new Map()
  #harnessError: string | undefined
  /** The clause that runs. */
  #trying: string | undefined

  constructor(harness: Harness, options: RunOptions) {
    this.harness = harness
    this.#options = options
    this.#source = new MediumSource(harness, options.harnessDeadlineMs)
    const { extensions = [] } = options
    const wrongExtension = wrongExtensions(extensions)
    this.#all = [...ALL_CASES, ...(wrongExtension === undefined ? extensions.flatMap(({ cases }) => cases) : [])]
    this.#harnessError =
      wrongForm(harness) ??
      wrongExtension ??
      wrongOptions(this.#all, options) ??
      unknownKnownFailure(harness, this.#all)
    this.cases = chosenCases(this.#all, options)
  }

  async prepare(): Promise<string | undefined> {
    try {
      await this.#probe()
    } catch (error) {
      this.#giveUp(error)
    }
    return this.#harnessError
  }

  async #probe(): Promise<Probe> {
    if (this.#harnessError !== undefined) throw new HarnessError(this.#harnessError)
    this.#probing ??= this.#look()
    const probe = await this.#probing
    this.#description = probe.description
    this.#missing = probe.missing
    return probe
  }

  async #look(): Promise<Probe> {
    const probe = await probeHarness(this.harness, this.#source, {
      process: this.cases.some(({ needs }) => needs.tier === 'process'),
      deadlineMs: this.#options.harnessDeadlineMs,
    })
    const missing = new Map(probe.missing)
    for (const tier of ['io', 'power'] as const) {
      const extension = this.#options.extensions?.find((one) => one.tier === tier)
      const reason =
        extension === undefined ? `not asked for: --with ${tier}` : await extension.unavailable?.(this.harness)
      if (reason !== undefined) missing.set(tier, reason)
    }
    return { ...probe, missing }
  }

  beforehand(conformanceCase: ConformanceCase): Beforehand | undefined {
    if (this.#description === undefined) return undefined
    const { needs } = conformanceCase
    const missing = this.#missing.get(needs.tier)
    if (missing !== undefined) return { status: 'skipped', message: `tier ${needs.tier} not exercised: ${missing}` }
    const reason = notApplicable(conformanceCase, this.#description.capabilities, this.#all)
    return reason === undefined ? undefined : { status: 'not-applicable', message: reason }
  }

  async runCase(conformanceCase: ConformanceCase): Promise<CaseResult | 'harness-error'> {
    const start = performance.now()
    try {
      const { description } = await this.#probe()
      this.#trying = conformanceCase.id
      const { id, level, family, title, needs } = conformanceCase
      const verdict = this.beforehand(conformanceCase) ?? (await this.#verdictOf(conformanceCase, description))
      const durationMs = performance.now() - start
      const known = knownVerdict(verdict, id, this.harness)
      const result: CaseResult = { id, level, family, tier: needs.tier, title, ...known, durationMs }
      this.#results.set(id, result)
      return result
    } catch (error) {
      this.#giveUp(error)
      return 'harness-error'
    }
  }

  async #verdictOf(conformanceCase: ConformanceCase, description: BackendDescription): Promise<Verdict> {
    const running = await RunningCase.start({
      harness: this.harness,
      source: this.#source,
      capabilities: description.capabilities,
      effort: this.#options.effort ?? 'full',
      seed: seedOf(this.#options.seed ?? 1, conformanceCase.id),
    })
    const verdict = await tryCase(conformanceCase, running, this.harness, this.#options)
    await running.release()
    if (verdict.status === 'failed') {
      // What a broken backend leaves behind is no further news.
      await running.destroy().catch(() => {})
      return verdict
    }
    const leaked = await running.leakedFile()
    if (leaked !== undefined) throw leakError(this.harness, leaked, ` in ${conformanceCase.id}`)
    await running.destroy()
    return verdict
  }

  /** Declared levels choose the clauses that count, so that a false one leaves no verdict on the others. */
  #falseDeclaration(): string | undefined {
    for (const { id, observes } of this.cases) {
      const result = this.#results.get(id)
      // Listed as known or not: what is declared can be corrected at once.
      if (observes === undefined || result?.failure === undefined) continue
      const level = this.#description?.capabilities[observes]
      return `The backend declares ${observes} '${level}', and ${id} observes something else: ${result.failure.message}. Declare the level that holds, or make this one hold.`
    }
    return undefined
  }

  #giveUp(error: unknown): void {
    if (!(error instanceof HarnessError)) throw error
    this.#harnessError ??= `${error.message}${this.#afterWhat(error.message)}`
  }

  /** In which clause the harness failed, and what the ones before it have shown of the backend all the same. */
  #afterWhat(message: string): string {
    if (this.#trying === undefined) return ''
    const where = message.includes(this.#trying) ? '' : ` This was in ${this.#trying}.`
    const failed = [...this.#results.values()].filter(({ status }) => status === 'failed').map(({ id }) => id)
    return failed.length === 0 ? where : `${where} Before that the backend failed ${failed.join(', ')}: see above.`
  }

  /** A clause failed that does not compare a declared capability with what it observes. */
  #isViolated(): boolean {
    return this.cases.some(({ id, observes }) => observes === undefined && this.#results.get(id)?.status === 'failed')
  }

  report(): ConformanceReport {
    const { seed = 1, effort = 'full' } = this.#options
    const results = this.cases.flatMap(({ id }) => this.#results.get(id) ?? [])
    return summarize({
      harness: String(this.harness?.name),
      backend: this.#description,
      seed,
      effort,
      harnessError: this.#harnessError ?? this.#falseDeclaration(),
      isViolated: this.#harnessError === undefined && this.#isViolated(),
      results,
      tierReasons: this.#missing,
    })
  }
}

function wrongForm(harness: Harness): string | undefined {
  try {
    defineHarness(harness)
    return undefined
  } catch (error) {
    return sentenceOf(error)
  }
}

function unknownKnownFailure({ name, knownFailures }: Harness, cases: readonly ConformanceCase[]): string | undefined {
  const ids = new Set(cases.map(({ id }) => id))
  const unknown = Object.keys(knownFailures ?? {}).find((id) => !ids.has(id))
  return unknown === undefined ? undefined : `\`knownFailures\` of ${name} names ${unknown}: there is no such clause.`
}
