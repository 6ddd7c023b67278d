import { type ConformanceCase, FAMILIES } from './conformance-case.ts'
import type { Harness } from './harness.ts'
import { formatReport } from './report.ts'
import { CASE_DEADLINE_MS, type RunOptions, startRun } from './run-conformance.ts'

/** The part that vitest, node:test and jest-shaped runners have in common. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown
  /** Rest parameters on purpose: a declared parameter would be taken for a callback by some runners. */
  readonly it: (name: string, body: (...context: unknown[]) => Promise<void>, timeoutMs?: number) => unknown
}

/**
 * Registers one test a clause. A clause that cannot run here is skipped through the runner's own `context.skip` where
 * it has one, and is counted and printed by the last test in any case.
 */
export function describeConformance(harness: Harness, runner: TestRunner, options: RunOptions = {}): void {
  const run = startRun(harness, options)
  runner.describe(`conformance of ${harness.name}`, () => {
    for (const family of FAMILIES) {
      const cases = run.cases.filter((conformanceCase) => conformanceCase.family === family)
      if (cases.length === 0) continue
      runner.describe(family, () => {
        for (const conformanceCase of cases) {
          const { id, level, title } = conformanceCase
          runner.it(
            `${id} ${level}: ${title}`,
            async (...context) => {
              const result = await run.runCase(conformanceCase)
              if (result === 'harness-error') throw new Error(run.report().harnessError)
              if (result.status === 'skipped') skipThrough(context[0], result.message ?? '')
              if (result.status === 'failed') throw new Error(`${id}: ${result.message ?? ''}`)
            },
            deadlineOf(conformanceCase),
          )
        }
      })
    }
    runner.it('the report of this run', async () => {
      const report = run.report()
      console.log(formatReport(report))
      if (report.outcome === 'nothing-ran') throw new Error('Not one MUST clause ran.')
    })
  })
}

/** The kit's own deadline comes first and says what hung; the runner's is only behind it. */
function deadlineOf({ needs }: ConformanceCase): number {
  return (needs.timeoutMs ?? CASE_DEADLINE_MS) + 30_000
}

/** The contexts of vitest and node:test have `skip`; vitest's own is a function with properties. */
function skipThrough(context: unknown, reason: string): void {
  if ((typeof context !== 'object' && typeof context !== 'function') || context === null) return
  if ('skip' in context && typeof context.skip === 'function') context.skip(reason)
}
