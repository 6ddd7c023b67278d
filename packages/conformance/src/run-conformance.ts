import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BackendDescription } from '@session-persistence/core'
import { RunningCase } from './case-context.ts'
import { ALL_CASES } from './cases/all-cases.ts'
import { CaseSkipped, type ConformanceCase, type Tier } from './conformance-case.ts'
import { withDeadline } from './deadline.ts'
import { escapedRejections } from './escaped-rejections.ts'
import { Violation } from './expectation.ts'
import { defineHarness, type Harness, HarnessError } from './harness.ts'
import { MediumSource } from './medium-source.ts'
import { leakError, type Probe, probeHarness } from './probe.ts'
import { type CaseResult, type ConformanceReport, type FailureReport, summarize } from './report/conformance-report.ts'
import { chosenCases, type RunOptions, wrongOptions } from './run-options.ts'
import { seedOf } from './seeded-random.ts'
import { sentenceOf } from './short-value.ts'
import { usualCause } from './usual-causes.ts'

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
  readonly harness: Harness
  readonly cases: readonly ConformanceCase[]
  /** Looks at the harness before the first case does; its error, one sentence, when it has one. */
  prepare(): Promise<string | undefined>
  /** Why a case will be skipped, as far as {@link prepare} could tell. */
  skipReason(conformanceCase: ConformanceCase): string | undefined
  runCase(conformanceCase: ConformanceCase): Promise<CaseResult | 'harness-error'>
  report(): ConformanceReport
}

export function startRun(harness: Harness, options: RunOptions = {}): ConformanceRun {
  return new CaseByCase(harness, options)
}

class CaseByCase implements ConformanceRun {
  readonly harness: Harness
  readonly cases: readonly ConformanceCase[]
  readonly #options: RunOptions
  readonly #source: MediumSource
  readonly #results = new Map<string, CaseResult>()
  #probing: Promise<Probe> | undefined
  #description: BackendDescription | undefined
  #missing: ReadonlyMap<Tier, string> = new Map()
  #harnessError: string | undefined

  constructor(harness: Harness, options: RunOptions) {
    this.harness = harness
    this.#options = options
    this.#source = new MediumSource(harness, options.harnessDeadlineMs)
    const all = [...ALL_CASES, ...(options.extensions ?? []).flatMap(({ cases }) => cases)]
    this.#harnessError = wrongForm(harness) ?? wrongOptions(all, options) ?? unknownKnownFailure(harness, all)
    this.cases = chosenCases(all, options)
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
      const reason = extension === undefined ? 'no extension brings it' : await extension.unavailable?.(this.harness)
      if (reason !== undefined) missing.set(tier, reason)
    }
    return { ...probe, missing }
  }

  skipReason({ needs }: ConformanceCase): string | undefined {
    if (this.#description === undefined) return undefined
    const reason = this.#missing.get(needs.tier)
    if (reason !== undefined) return `tier ${needs.tier} not exercised: ${reason}`
    const declared: Readonly<Record<string, unknown>> = { ...this.#description.capabilities }
    for (const [capability, levels] of Object.entries(needs.capabilities ?? {})) {
      const level = declared[capability]
      if (!(levels as readonly unknown[]).includes(level)) return `says nothing of ${capability} '${String(level)}'`
    }
    return undefined
  }

  async runCase(conformanceCase: ConformanceCase): Promise<CaseResult | 'harness-error'> {
    const start = performance.now()
    try {
      const { description } = await this.#probe()
      const { id, level, family, title, needs } = conformanceCase
      const reason = this.skipReason(conformanceCase)
      const verdict: Verdict =
        reason === undefined
          ? await this.#verdictOf(conformanceCase, description)
          : { status: 'skipped', message: reason }
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
    const verdict = await this.#tryCase(conformanceCase, running)
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

  async #tryCase(conformanceCase: ConformanceCase, running: RunningCase): Promise<Verdict> {
    const deadlineMs = this.#options.caseDeadlineMs ?? conformanceCase.needs.timeoutMs ?? CASE_DEADLINE_MS
    try {
      const attempt = (): Promise<void> => {
        return withDeadline(conformanceCase.run(running.context), deadlineMs, () => {
          return new Violation(`nothing happened within ${deadlineMs / 1000} s: something never settles`)
        })
      }
      const escaped = this.#options.watchRejections === true ? await escapedRejections(attempt) : await attempt()
      if (escaped?.[0] !== undefined) throw new Violation(`a rejection that nobody could handle: ${escaped[0]}`)
      const digest = running.digest()
      return { status: 'passed', ...(digest === undefined ? {} : { digest }) }
    } catch (error) {
      if (error instanceof HarnessError) throw error
      if (error instanceof CaseSkipped) return { status: 'skipped', message: error.message }
      const message = describeFailure(error)
      const failure: FailureReport = {
        message,
        window: error instanceof Violation ? error.window : [],
        history: running.history.lines(),
        usualCause: usualCause(conformanceCase),
        repeat: this.#repeatCommand(conformanceCase.id),
      }
      return { status: 'failed', message, failure }
    }
  }

  #repeatCommand(id: string): string {
    const { seed = 1, effort = 'full', harnessPath } = this.#options
    const path = harnessPath ?? modulePath(this.harness.module) ?? './harness.js'
    const quick = effort === 'quick' ? ' --effort quick' : ''
    return `npx @session-persistence/conformance ${path} --id ${id} --seed ${seed}${quick}`
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
    this.#harnessError ??= error.message
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
      results,
      tierReasons: this.#missing,
    })
  }
}

type Verdict = Pick<CaseResult, 'status' | 'message' | 'failure' | 'digest' | 'knownFailure'>

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

/** A failure that is listed stays a failure, but is not red; one that is listed and passes is. */
function knownVerdict(verdict: Verdict, id: string, { knownFailures = {} }: Harness): Verdict {
  const knownFailure = Object.hasOwn(knownFailures, id) ? knownFailures[id] : undefined
  if (knownFailure === undefined || verdict.status === 'skipped') return verdict
  if (verdict.status === 'failed') return { ...verdict, status: 'known-failure', knownFailure }
  return { ...verdict, status: 'failed', knownFailure, message: 'passes by now: take it off `knownFailures`' }
}

/** A violation speaks for itself; anything else was thrown where the case expected none. */
function describeFailure(error: unknown): string {
  if (error instanceof Violation) return error.message
  if (!(error instanceof Error)) return `unexpected throw of ${typeof error}`
  return `unexpected ${error.name}: ${sentenceOf(error)}`
}

function modulePath(module: string | undefined): string | undefined {
  if (module === undefined || !module.startsWith('file:')) return undefined
  const path = relative(process.cwd(), fileURLToPath(module))
  return path.startsWith('..') ? path : `./${path}`
}
