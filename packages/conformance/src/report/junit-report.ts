import type { CaseResult, ConformanceReport } from './conformance-report.ts'
import { explainFailure } from './explain-failure.ts'
import { markupText } from './markup-text.ts'

/**
 * The report as JUnit XML: a suite a family, a test case a clause that applies; a harness error is an error, a known
 * failure skipped. The format has no word for a clause that does not apply.
 */
export function junitReport(whole: ConformanceReport): string {
  const report = { ...whole, results: whole.results.filter(({ status }) => status !== 'not-applicable') }
  const families = [...new Set(report.results.map(({ family }) => family))]
  const suites = families.map((family) =>
    suite(
      family,
      report.results.filter((result) => result.family === family),
    ),
  )
  const nothingRan = report.outcome === 'nothing-ran' ? 'Not one MUST clause ran.' : undefined
  const error = report.harnessError ?? nothingRan
  if (error !== undefined) {
    suites.push(
      `  <testsuite name="harness" tests="1" failures="0" errors="1" skipped="0">\n    <testcase classname="harness" name="the harness of ${markupText(report.harness)}">\n      <error message="${markupText(error)}"/>\n    </testcase>\n  </testsuite>`,
    )
  }
  const { passed, failed, skipped } = report.counts
  const tests = passed + failed + skipped + (error === undefined ? 0 : 1)
  const totals = `tests="${tests}" failures="${failed}" errors="${error === undefined ? 0 : 1}" skipped="${skipped}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="conformance of ${markupText(report.harness)}" ${totals} time="${seconds(report.results)}">`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n')
}

function suite(family: string, results: readonly CaseResult[]): string {
  const count = (...statuses: readonly CaseResult['status'][]): number =>
    results.filter(({ status }) => statuses.includes(status)).length
  const totals = `tests="${results.length}" failures="${count('failed')}" errors="0" skipped="${count('skipped', 'known-failure')}"`
  return [
    `  <testsuite name="${markupText(family)}" ${totals} time="${seconds(results)}">`,
    ...results.map(testCase),
    '  </testsuite>',
  ].join('\n')
}

function testCase(result: CaseResult): string {
  const { id, level, family, title, status, message = '', durationMs } = result
  const head = `    <testcase classname="${markupText(family)}" name="${markupText(`${id} ${level}: ${title}`)}" time="${(durationMs / 1000).toFixed(3)}"`
  if (status === 'passed') return `${head}/>`
  const inside =
    status === 'failed'
      ? `<failure message="${markupText(message)}">${markupText(explainFailure(result).join('\n'))}</failure>`
      : `<skipped message="${markupText(status === 'skipped' ? message : `known failure: ${result.knownFailure ?? ''}`)}"/>`
  return `${head}>\n      ${inside}\n    </testcase>`
}

function seconds(results: readonly CaseResult[]): string {
  return (results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000).toFixed(3)
}
