import { FAMILIES } from '../conformance-case.ts'
import { badgeText } from './badge.ts'
import type { CaseResult, ConformanceReport } from './conformance-report.ts'
import { htmlFailure } from './html-failure.ts'
import { HTML_STYLE } from './html-style.ts'
import { linkedText, proseText, STATUS_WORDS } from './html-text.ts'
import { levelLadder } from './level-ladder.ts'
import { levelReached } from './level-shortfall.ts'
import { markupText } from './markup-text.ts'
import { reasons } from './reasons.ts'

const VERDICT: { readonly [O in ConformanceReport['outcome']]: readonly [sign: string, words: string] } = {
  conforms: ['\u2713', 'Conforms'],
  violations: ['\u2717', 'Does not conform'],
  'harness-error': ['!', 'No verdict: the harness is wrong'],
  'nothing-ran': ['!', 'No verdict: not one MUST clause ran'],
}

/** The report as one page that loads nothing and runs no script, light or dark as its reader prefers. */
export function htmlReport(report: ConformanceReport): string {
  const failed = report.results.filter(({ status }) => status === 'failed')
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Conformance of ${markupText(report.harness)}: ${markupText(badgeText(report))}</title>`,
    `<style>${HTML_STYLE}</style>`,
    '</head>',
    '<body>',
    '<main>',
    ...heading(report),
    ...(failed.length === 0 ? [] : ['<h2>Failures</h2>', ...failed.map(htmlFailure)]),
    ...tiers(report),
    ...notTried(report),
    ...backend(report),
    '<h2>Clauses</h2>',
    ...families(report).map((family) => familyDetails(family, report)),
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n')
}

function heading(report: ConformanceReport): readonly string[] {
  const { passed, failed, skipped, notApplicable } = report.counts
  const { node, platform, arch } = report.environment
  const [sign, words] = VERDICT[report.outcome]
  const counts: readonly (readonly [word: string, count: number])[] = [
    ['passed', passed],
    ['failed', failed],
    ['skipped', skipped],
    ...(notApplicable === 0 ? [] : [['do not apply', notApplicable] as const]),
  ]
  return [
    `<h1>Conformance of ${markupText(report.harness)}</h1>`,
    `<p class="verdict ${report.outcome}"><span aria-hidden="true">${sign}</span> ${words}. Level reached: ${proseText(levelReached(report))}.</p>`,
    ...(report.harnessError === undefined ? [] : [`<p class="failed">${proseText(report.harnessError)}</p>`]),
    `<p class="quiet">Seed ${report.seed}, ${report.effort} effort, kit ${markupText(report.kitVersion)}, Node ${markupText(node)} on ${markupText(platform)} ${markupText(arch)}.</p>`,
    '<ul class="counts">',
    ...counts.map(([word, count]) => `<li><b>${count}</b> ${word}</li>`),
    '</ul>',
  ]
}

function tiers(report: ConformanceReport): readonly string[] {
  const rows = levelLadder(report).map(({ tier, level, isReached, words }) => {
    const mark = isReached ? '<span class="passed">\u2713 reached</span>' : '<span class="quiet">not reached</span>'
    return `<tr><th scope="row">${tier}</th><td>${proseText(words)}</td><td>${level} ${mark}</td></tr>`
  })
  return [
    '<h2>Tiers</h2>',
    '<table>',
    '<tr><th scope="col">Tier</th><th scope="col">Clauses</th><th scope="col">Level</th></tr>',
    ...rows,
    '</table>',
  ]
}

/** What did not run, by reason, so that nobody has to look for it clause by clause. */
function notTried(report: ConformanceReport): readonly string[] {
  const lines = (['skipped', 'not-applicable'] as const).flatMap((status) => {
    return reasons(report, status).map(({ reason, ids }) => {
      const words = status === 'skipped' ? 'skipped' : ids.length === 1 ? 'does not apply' : 'do not apply'
      const said = `<span class="${status}">${ids.length} ${words}</span>: ${proseText(reason)}.`
      return `<li>${said} <span class="quiet">${ids.map((id) => `<span class="id">${id}</span>`).join(' ')}</span></li>`
    })
  })
  return lines.length === 0 ? [] : ['<h2>Not tried</h2>', '<ul class="reasons">', ...lines, '</ul>']
}

function backend({ backend: described }: ConformanceReport): readonly string[] {
  if (described === undefined) return []
  const modes = Object.entries(described.modes)
  const row = ([name, value]: readonly [string, string]): string =>
    `<tr><th scope="row">${markupText(name)}</th><td>${markupText(value)}</td></tr>`
  return [
    `<h2>Backend ${markupText(described.name)} ${markupText(described.version)}</h2>`,
    '<table>',
    '<tr><th scope="col">Declared capability</th><th scope="col">Level</th></tr>',
    ...Object.entries(described.capabilities).map(row),
    ...(modes.length === 0 ? [] : ['<tr><th scope="col">Effective mode</th><th scope="col">As read back</th></tr>']),
    ...modes.map(row),
    '</table>',
  ]
}

function families({ results }: ConformanceReport): readonly string[] {
  const present = new Set<string>(results.map(({ family }) => family))
  return [...FAMILIES.filter((family) => present.has(family)), ...[...present].filter((family) => !isBuiltIn(family))]
}

function isBuiltIn(family: string): boolean {
  return (FAMILIES as readonly string[]).includes(family)
}

function familyDetails(family: string, { results }: ConformanceReport): string {
  const cases = results.filter((result) => result.family === family)
  const count = (status: CaseResult['status']): number => cases.filter((one) => one.status === status).length
  const others = (['failed', 'known-failure', 'skipped', 'not-applicable'] as const)
    .filter((status) => count(status) > 0)
    .map((status) => `, <span class="${status}">${count(status)} ${STATUS_WORDS[status]}</span>`)
  return [
    `<details><summary>${family}: ${count('passed')} of ${cases.length - count('not-applicable')} passed${others.join('')}</summary>`,
    '<table class="clauses">',
    ...cases.map(row),
    '</table>',
    '</details>',
  ].join('\n')
}

function row({ id, level, title, status, message, knownFailure }: CaseResult): string {
  const notes = [status === 'passed' ? undefined : message, knownFailure].filter((note) => note !== undefined)
  const more = notes.map((note) => `<br><span class="quiet">${linkedText(note)}</span>`).join('')
  return `<tr><td class="id">${id} <small>${level}</small></td><td class="status"><span class="${status}">${STATUS_WORDS[status]}</span></td><td>${proseText(title)}${more}</td></tr>`
}
