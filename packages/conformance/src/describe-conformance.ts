import { deadlineOf } from './case-verdict.ts'
import { type ConformanceCase, EXTENSION_FAMILIES, FAMILIES } from './conformance-case.ts'
import { PATIENCE } from './deadline.ts'
import type { Harness } from './harness.ts'
import type { ConformanceReport } from './report/conformance-report.ts'
import { explainFailure } from './report/explain-failure.ts'
import { formatReport } from './report/text-report.ts'
import { type Beforehand, type ConformanceRun, startRun } from './run-conformance.ts'
import type { RunOptions } from './run-options.ts'

/** The part that vitest, node:test and jest-shaped runners have in common. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown
  /** Rest parameters on purpose: a declared parameter would be taken for a callback by some runners. */
  readonly it: RegisterTest & { readonly skip?: RegisterTest }
}

type RegisterTest = (name: string, body: (...context: unknown[]) => Promise<void>, timeoutMs?: number) => unknown

export interface DescribeOptions extends RunOptions {
  /** Gets the report when the last test is through, for example to write it into a file. */
  readonly onReport?: (report: ConformanceReport) => void | Promise<void>
}

/**
 * A run whose harness was looked at, for runners that can skip only what they know beforehand (jest):
 * `describeConformance(await prepareConformance(harness), { describe, it })` in a module with top-level await.
 */
export async function prepareConformance(harness: Harness, options: RunOptions = {}): Promise<ConformanceRun> {
  const run = startRun(harness, options)
  await run.prepare()
  return run
}

/**
 * Registers one test a clause. A clause that cannot run here is skipped through the runner's own `context.skip` where
 * it has one, and is counted and printed by the last test in any case. Known failures are skipped in the same way.
 */
export function describeConformance(
  tested: Harness | ConformanceRun,
  runner: TestRunner,
  options: DescribeOptions = {},
): void {
  const run = 'runCase' in tested ? tested : startRun(tested, options)
  runner.describe(`conformance of ${run.harness.name}`, () => {
    for (const family of [...FAMILIES, ...EXTENSION_FAMILIES]) {
      const cases = run.cases.filter((conformanceCase) => conformanceCase.family === family)
      if (cases.length === 0) continue
      runner.describe(family, () => {
        for (const conformanceCase of cases) registerCase(run, runner, conformanceCase)
      })
    }
    runner.it('the report of this run', async () => {
      for (const unregistered of run.cases)
        if (beforehand(run, runner, unregistered) !== undefined) await run.runCase(unregistered)
      const report = run.report()
      console.log(formatReport(report))
      await options.onReport?.(report)
      if (report.harnessError !== undefined) throw plainError(report.harnessError)
      if (report.outcome === 'nothing-ran') throw plainError('Not one MUST clause ran.')
    })
  })
}

function registerCase(run: ConformanceRun, runner: TestRunner, conformanceCase: ConformanceCase): void {
  const { id, level, title } = conformanceCase
  const name = `${id} ${level}: ${title}`
  const known = beforehand(run, runner, conformanceCase)
  if (known !== undefined) {
    // What does not apply is nothing that was left out.
    if (known.status === 'skipped') runner.it.skip?.(`${name} (${known.message})`, async () => {})
    return
  }
  runner.it(
    name,
    async (...context) => {
      const result = await run.runCase(conformanceCase)
      if (result === 'harness-error') throw plainError(run.report().harnessError ?? '')
      if (result.status === 'skipped') skipThrough(context[0], result.message ?? '')
      if (result.status === 'not-applicable') skipThrough(context[0], `does not apply: ${result.message ?? ''}`)
      if (result.status === 'known-failure') skipThrough(context[0], `known failure: ${result.knownFailure ?? ''}`)
      if (result.status === 'failed') throw plainError(explainFailure(result).join('\n'))
    },
    // The kit's own deadline comes first and says what hung; the runner's is only behind it.
    PATIENCE * deadlineOf(conformanceCase) + 30_000,
  )
}

/** Known only of a run that was prepared, and of use only to a runner that can skip beforehand. */
function beforehand(run: ConformanceRun, runner: TestRunner, tried: ConformanceCase): Beforehand | undefined {
  return runner.it.skip === undefined ? undefined : run.beforehand(tried)
}

/** The message explains itself; where in this kit it was thrown explains nothing. */
function plainError(message: string): Error {
  const error = new Error(message)
  error.stack = message
  return error
}

/** The contexts of vitest and node:test have `skip`; vitest's own is a function with properties. */
function skipThrough(context: unknown, reason: string): void {
  if ((typeof context !== 'object' && typeof context !== 'function') || context === null) return
  if ('skip' in context && typeof context.skip === 'function') context.skip(reason)
}
