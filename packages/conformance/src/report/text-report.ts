import type { ConformanceReport } from './conformance-report.ts'
import { explainFailure } from './explain-failure.ts'
import { levelLadder } from './level-ladder.ts'
import { levelReached } from './level-shortfall.ts'
import { reasons } from './reasons.ts'
import { sameFailures } from './same-failures.ts'

/** For people. The last line is always `N passed, N failed, N skipped`; what does not apply has a line of its own. */
export function formatReport(report: ConformanceReport): string {
  const lines = [`Conformance of ${report.harness}, seed ${report.seed}, ${report.effort}`]
  if (report.backend !== undefined) {
    const { name, version, capabilities, modes } = report.backend
    lines.push(`backend ${name} ${version}`)
    lines.push(`capabilities ${pairs(capabilities)}`, `modes ${pairs(modes)}`)
  }
  // Where nothing was run, what was not is no news, and would hide why.
  if (report.results.length === 0 && report.harnessError !== undefined) {
    lines.push('', `harness error: ${report.harnessError}`, ...lastLines(report))
    return lines.join('\n')
  }
  lines.push(...tierLines(report), ...reasonLines(report, 'skipped'), ...reasonLines(report, 'not-applicable'))
  lines.push(...triedLines(report))
  for (const result of report.results) {
    if (result.status === 'known-failure') {
      lines.push(`known failure ${result.id}, ${result.knownFailure ?? ''}: ${result.message ?? ''}`)
    }
    if (result.status !== 'failed') continue
    const [first = '', ...rest] = explainFailure(result)
    lines.push('', `FAILED ${result.level} ${first}`, ...rest.map((line) => `    ${line}`))
  }
  const same = sameFailures(report)
  if (same.length > 0) lines.push('', ...same)
  if (report.harnessError !== undefined) lines.push('', `harness error: ${report.harnessError}`)
  lines.push(...lastLines(report))
  return lines.join('\n')
}

function lastLines(report: ConformanceReport): readonly string[] {
  const { passed, failed, skipped } = report.counts
  return [
    '',
    `outcome: ${report.outcome}; level reached: ${levelReached(report)}`,
    `${passed} passed, ${failed} failed, ${skipped} skipped`,
  ]
}

function tierLines(report: ConformanceReport): readonly string[] {
  return levelLadder(report).map(
    ({ tier, words }) => `tier ${tier}: ${words.replace(/^not exercised:/, 'NOT EXERCISED,')}`,
  )
}

/** The evidence of clauses that count what they try. */
function triedLines({ results }: ConformanceReport): readonly string[] {
  return results.flatMap(({ id, tried }) => {
    if (tried === undefined) return []
    const counts = Object.entries(tried).map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
    return [`tried ${id}: ${counts.join(', ')}`]
  })
}

function reasonLines(report: ConformanceReport, wanted: 'skipped' | 'not-applicable'): readonly string[] {
  const word = wanted.replace('-', ' ')
  return reasons(report, wanted).map(({ reason, ids }) => `${word} ${ids.length}, ${reason}: ${ids.join(' ')}`)
}

function pairs(record: object): string {
  const entries = Object.entries(record)
  return entries.length === 0 ? 'none' : entries.map(([key, value]) => `${key}=${String(value)}`).join(' ')
}
