/** The report as one page that needs nothing else: no script, no font, no network. */
import { BARS_STYLE, groupBars } from './bars.ts'
import { escaped } from './chart.ts'
import { type GoalCell, goalTable } from './goal-table.ts'
import { PAGE_STYLE } from './page-style.ts'
import { absolute, failureWords, interval, quantity, threeDigits, verdictMark, verdictWords } from './quantity.ts'
import type { BenchReport } from './report.ts'
import type { Row } from './row.ts'
import { type Theme, themesOf } from './themes.ts'

export function htmlReport(report: BenchReport): string {
  const themes = themesOf(report.rows)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Session persistence: append, replay, size and memory</title>
<style>${PAGE_STYLE}${BARS_STYLE}</style>
</head>
<body>
<header>
<h1>Append, replay, size and memory</h1>
${facts(report)}
${verdicts(report)}
${warnings(report)}
</header>
<nav>${navigation(report, themes)}</nav>
${goals(report)}
${themes.map(section).join('\n')}
${about(report)}
</body>
</html>
`
}

function facts({ machine, startedAt, scale, seconds }: BenchReport): string {
  const { sync } = machine
  const line = [
    startedAt.slice(0, 10),
    `Node ${machine.node.slice(1)}`,
    machine.platform,
    `${machine.cpus} × ${machine.cpu}`,
    machine.fileSystem ?? 'unknown file system',
    `a bare write + fdatasync takes ${threeDigits(sync.syncMs.median * 1000)} µs`,
    `load ${threeDigits(machine.load)}`,
    `${scale} run of ${threeDigits(seconds)} s`,
  ]
  return `<p class="quiet">${escaped(line.join(' · '))}</p>`
}

function verdicts({ rows }: BenchReport): string {
  if (!rows.some(({ goal }) => goal !== undefined)) return ''
  const count = (kind: Row['verdict']['kind']): number => rows.filter((row) => row.verdict.kind === kind).length
  return `<div class="verdicts">
<div><strong>✓ ${count('reached')}</strong>goals reached</div>
<div><strong>✗ ${count('missed')}</strong>missed</div>
<div><strong>? ${count('unclear')}</strong>too close or too noisy to say</div>
</div>`
}

function warnings({ failures, partial, machine, scenarios, unavailable }: BenchReport): string {
  const lines = failures.map(failureWords)
  if (partial) lines.unshift('This run is partial: what is missing was not measured.')
  if (!machine.sync.plausible)
    lines.push('Syncs here are too fast to reach a disk: append ratios say nothing about a real one.')
  if (machine.load > machine.cpus)
    lines.push(`The machine was busy with other work (load ${threeDigits(machine.load)}) when the run began.`)
  for (const { caution } of scenarios) if (caution !== undefined) lines.push(caution)
  for (const { name, reason } of unavailable) lines.push(`${name} was not measured: ${reason}`)
  return lines.map((line) => `<p class="warning">${escaped(line)}</p>`).join('\n')
}

function navigation(report: BenchReport, themes: readonly Theme[]): string {
  const goal = goalTable(report) === undefined ? [] : [{ id: 'goals', title: 'Goals' }]
  const links = [...goal, ...themes, { id: 'about', title: 'What was measured' }]
  return links.map(({ id, title }) => `<a href="#${id}">${escaped(title)}</a>`).join(' ')
}

function goals(report: BenchReport): string {
  const table = goalTable(report)
  if (table === undefined) return ''
  const heads = table.backends.map((name) => `<th>${escaped(name)}</th>`).join('')
  const lines = table.lines.map(
    ({ what, cells }) => `<tr><th scope="row">${escaped(what)}</th>${cells.map(goalCell).join('')}</tr>`,
  )
  return `<section id="goals">
<h2>Goals</h2>
<p class="quiet">What was measured, its verdict, and below it the goal. Through the whole session, but for the port's own row.</p>
<div class="scroll"><table class="goals"><thead><tr><th></th>${heads}</tr></thead><tbody>${lines.join('\n')}</tbody></table></div>
</section>`
}

function goalCell(cell: GoalCell | undefined): string {
  if (cell === undefined) return '<td class="nothing"></td>'
  const { row, limit } = cell
  if (row === undefined) return '<td class="nothing">not measured</td>'
  const goal = `≤ ${escaped(quantity(limit, row.unit))}`
  if (row.goal === undefined)
    return `<td>${escaped(quantity(row.measured.median, row.unit))}<small>${goal}, of longer logs</small></td>`
  const words = verdictWords(row)
  return `<td class="${row.verdict.kind}"><b>${verdictMark(row)} ${escaped(quantity(row.measured.median, row.unit))}</b><small>${escaped(words)}<br>${goal}</small></td>`
}

function section(theme: Theme): string {
  const { id, title, groups } = theme
  const body = id === 'calls' ? countedTable(groups) : groups.map(group).join('\n')
  return `<section id="${id}">
<h2>${escaped(title)}</h2>
${body}
</section>`
}

function group(rows: readonly Row[]): string {
  const [first] = rows
  if (first === undefined) return ''
  const body = rows.map((row) => {
    const cells = [
      row.backend,
      row.through === 'none' ? '' : row.through,
      row.goal === undefined ? '' : `≤ ${quantity(row.goal, row.unit)}`,
      interval(row.measured, row.unit),
      absolute(row),
      String(row.measured.samples),
      `${threeDigits(row.measured.spread * 100)} %`,
      verdictWords(row),
    ]
    return `<tr>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`
  })
  const heads = ['', 'through', 'goal', 'median (95 % interval)', 'absolute', 'samples', 'spread', 'verdict']
  return `<article>
<h3>${escaped(first.title)}</h3>
${groupBars(rows)}
<details><summary>Numbers</summary>
<div class="scroll"><table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead><tbody>${body.join('')}</tbody></table></div>
</details>
</article>`
}

/** Counts are exact and small: a table says more than bars. */
function countedTable(groups: readonly (readonly Row[])[]): string {
  const backends = [...new Set(groups.flat().map(({ backend }) => backend))]
  const lines = groups.map((rows) => {
    const cells = backends.map((name) => {
      const row = rows.find(({ backend }) => backend === name)
      if (row === undefined) return '<td></td>'
      const mark = row.goal === undefined ? '' : `${verdictMark(row)} `
      const goal = row.goal === undefined ? '' : `≤ ${quantity(row.goal, row.unit)}`
      const small = [absolute(row), goal].filter((text) => text !== '').join(', ')
      return `<td class="${row.verdict.kind}"><b>${mark}${escaped(quantity(row.measured.median, row.unit))}</b>${small === '' ? '' : `<small>${escaped(small)}</small>`}</td>`
    })
    return `<tr><th scope="row">${escaped(rows[0]?.title ?? '')}</th>${cells.join('')}</tr>`
  })
  const heads = backends.map((name) => `<th>${escaped(name)}</th>`).join('')
  return `<div class="scroll"><table class="goals"><thead><tr><th></th>${heads}</tr></thead><tbody>${lines.join('\n')}</tbody></table></div>`
}

function about({ scenarios, backends }: BenchReport): string {
  const modes = backends.map(({ name, description }) => {
    const said = Object.entries(description.modes).map(([mode, value]) => `${mode} ${value}`)
    return `<tr><th scope="row">${escaped(name)}</th><td>${escaped(description.capabilities.durability)}</td><td>${escaped(said.join(', '))}</td></tr>`
  })
  const rows = scenarios.map(({ id, description, seconds }) => {
    const took = seconds === undefined ? 'not begun' : `${threeDigits(seconds)} s`
    return `<tr><th scope="row">${escaped(id)}</th><td>${escaped(description)}</td><td>${took}</td></tr>`
  })
  return `<section id="about">
<h2>What was measured</h2>
<p>A bar ends at the median of the ratios within one interleaved run; the line in it is the 95 % interval, the thick mark the
goal. Striped bars are measured at the storage port below the session. Gray ones are references: what they do not do stands
beside them.</p>
<div class="scroll"><table><thead><tr><th>backend</th><th>durable against</th><th>modes, read back</th></tr></thead><tbody>${modes.join('')}</tbody></table></div>
<div class="scroll"><table><tbody>${rows.join('')}</tbody></table></div>
</section>`
}
