import type { ConformanceReport } from './conformance-report.ts'
import { explainFailure } from './explain-failure.ts'

/** For people. The last line is always `N passed, N failed, N skipped`; what does not apply has a line of its own. */
export function formatReport(report: ConformanceReport): string {
  const lines = [`Conformance of ${report.harness}, seed ${report.seed}, ${report.effort}`]
  if (report.backend !== undefined) {
    const { name, version, capabilities, modes } = report.backend
    lines.push(`backend ${name} ${version}`)
    lines.push(`capabilities ${pairs(capabilities)}`, `modes ${pairs(modes)}`)
  }
  lines.push(...tierLines(report), ...reasonLines(report, 'skipped'), ...reasonLines(report, 'not-applicable'))
  for (const result of report.results) {
    if (result.status === 'known-failure') {
      lines.push(`known failure ${result.id}, ${result.knownFailure ?? ''}: ${result.message ?? ''}`)
    }
    if (result.status !== 'failed') continue
    const [first = '', ...rest] = explainFailure(result)
    lines.push('', `FAILED ${result.level} ${first}`, ...rest.map((line) => `    ${line}`))
  }
  if (report.harnessError !== undefined) lines.push('', `harness error: ${report.harnessError}`)
  lines.push('', `outcome: ${report.outcome}; level reached: ${report.reached}`)
  lines.push(`${report.counts.passed} passed, ${report.counts.failed} failed, ${report.counts.skipped} skipped`)
  return lines.join('\n')
}

function tierLines(report: ConformanceReport): readonly string[] {
  return report.tiers.map(({ tier, exercised, reason }) => {
    if (!exercised) return `tier ${tier}: NOT EXERCISED, ${reason ?? ''}`
    const ofTier = report.results.filter((result) => result.tier === tier)
    const passed = ofTier.filter(({ status }) => status === 'passed').length
    const applicable = ofTier.filter(({ status }) => status !== 'not-applicable').length
    return `tier ${tier}: ${passed} of ${applicable} passed`
  })
}

/** One line a reason: a whole tier is not listed clause by clause. */
function reasonLines(report: ConformanceReport, wanted: 'skipped' | 'not-applicable'): readonly string[] {
  const byReason = new Map<string, string[]>()
  for (const { id, status, message } of report.results) {
    if (status !== wanted) continue
    const ids = byReason.get(message ?? '') ?? []
    byReason.set(message ?? '', ids)
    ids.push(id)
  }
  return [...byReason].map(([reason, ids]) => `${wanted.replace('-', ' ')} ${ids.length}, ${reason}: ${ids.join(' ')}`)
}

function pairs(record: object): string {
  const entries = Object.entries(record)
  return entries.length === 0 ? 'none' : entries.map(([key, value]) => `${key}=${String(value)}`).join(' ')
}
