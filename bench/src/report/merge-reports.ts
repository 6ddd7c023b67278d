import type { BenchReport } from './report.ts'

/** One report of runs that followed each other: what they agree on once, what each found in order. */
export function mergeReports(reports: readonly [BenchReport, ...BenchReport[]], seconds: number): BenchReport {
  const [first] = reports
  const failures = unique(reports.flatMap((report) => report.failures))
  return {
    ...first,
    seconds,
    partial: reports.some(({ partial }) => partial),
    backends: unique(
      reports.flatMap((report) => report.backends),
      ({ name }) => name,
    ),
    unavailable: unique(
      reports.flatMap((report) => report.unavailable),
      ({ name }) => name,
    ),
    scenarios: reports.flatMap((report) => report.scenarios),
    rows: reports.flatMap((report) => report.rows),
    failures,
  }
}

/** The first of those with one key. */
function unique<T>(all: readonly T[], keyOf: (one: T) => string = (one) => JSON.stringify(one)): readonly T[] {
  const seen = new Map<string, T>()
  for (const one of all) if (!seen.has(keyOf(one))) seen.set(keyOf(one), one)
  return [...seen.values()]
}
