import { FAMILIES } from '../conformance-case.ts'
import { badgeText } from './badge.ts'
import type { CaseResult, ConformanceReport } from './conformance-report.ts'
import { explainFailure } from './explain-failure.ts'
import { HTML_STYLE } from './html-style.ts'
import { markupText } from './markup-text.ts'

/** Sign and word of each status: the sign for a quick look, the word for everybody. */
const STATUS: { readonly [S in CaseResult['status']]: string } = {
  passed: '\u2713 passed',
  failed: '\u2717 FAILED',
  skipped: '\u2013 skipped',
  'known-failure': '! known failure',
  'not-applicable': '\u00b7 does not apply',
}

const VERDICT: { readonly [O in ConformanceReport['outcome']]: string } = {
  conforms: 'Conforms.',
  violations: 'Does not conform.',
  'harness-error': 'No verdict: the harness is wrong.',
  'nothing-ran': 'No verdict: not one MUST clause ran.',
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
    ...(failed.length === 0 ? [] : ['<h2>Failures</h2>', ...failed.map(failure)]),
    ...backend(report),
    ...tiers(report),
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
  return [
    `<h1>Conformance of ${markupText(report.harness)}</h1>`,
    `<p class="verdict">${VERDICT[report.outcome]} Level reached: ${report.reached}.</p>`,
    ...(report.harnessError === undefined ? [] : [`<p class="failed">${markupText(report.harnessError)}</p>`]),
    `<p class="quiet">Seed ${report.seed}, ${report.effort} effort, kit ${markupText(report.kitVersion)}, Node ${markupText(node)} on ${markupText(platform)} ${markupText(arch)}.</p>`,
    '<ul class="counts">',
    ...[
      ['passed', passed],
      ['failed', failed],
      ['skipped', skipped],
      ...(notApplicable === 0 ? [] : [['do not apply', notApplicable]]),
    ].map(([word, count]) => `<li><b>${count}</b> ${word}</li>`),
    '</ul>',
  ]
}

function failure(result: CaseResult): string {
  const [first = '', ...rest] = explainFailure(result)
  return [
    '<details open="">',
    `<summary><span class="failed">${STATUS.failed}</span> ${result.level} ${markupText(first)}</summary>`,
    `<pre>${markupText(rest.join('\n'))}</pre>`,
    '</details>',
  ].join('\n')
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

function tiers({ tiers: all, results }: ConformanceReport): readonly string[] {
  const rows = all.map(({ tier, exercised, reason }) => {
    const ofTier = results.filter((result) => result.tier === tier)
    const passed = ofTier.filter(({ status }) => status === 'passed').length
    const applicable = ofTier.filter(({ status }) => status !== 'not-applicable').length
    const words = exercised ? `${passed} of ${applicable} passed` : `not exercised: ${markupText(reason ?? '')}`
    return `<tr><th scope="row">${tier}</th><td>${words}</td></tr>`
  })
  return ['<h2>Tiers</h2>', '<table>', ...rows, '</table>']
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
    .map((status) => `, <span class="${status}">${count(status)} ${STATUS[status]}</span>`)
  return [
    `<details><summary>${family}: ${count('passed')} of ${cases.length - count('not-applicable')} passed${others.join('')}</summary>`,
    '<table>',
    ...cases.map(row),
    '</table>',
    '</details>',
  ].join('\n')
}

function row({ id, level, title, status, message, knownFailure }: CaseResult): string {
  const notes = [status === 'passed' ? undefined : message, knownFailure].filter((note) => note !== undefined)
  const more = notes.map((note) => `<br><span class="quiet">${link(note)}</span>`).join('')
  return `<tr><td class="id">${id}<br>${level}</td><td class="status"><span class="${status}">${STATUS[status]}</span></td><td>${markupText(title)}${more}</td></tr>`
}

/** An address of a tracker becomes a link, and nothing else does: `javascript:` is text. */
function link(text: string): string {
  return /^https?:\/\/\S+$/.test(text) ? `<a href="${markupText(text)}">${markupText(text)}</a>` : markupText(text)
}
