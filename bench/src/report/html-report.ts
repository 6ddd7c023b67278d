/** The report as one page that needs nothing else: no script, no font, no network. */
import { CHART_STYLE, escaped, groupChart } from './chart.ts'
import { absolute, interval, quantity, threeDigits, verdictWords } from './quantity.ts'
import type { BenchReport } from './report.ts'
import type { Row } from './row.ts'
import { groupsOf } from './row-groups.ts'

const STYLE = `
  :root {
    color-scheme: light dark;
    --paper: #ffffff; --ink: #1c2024; --quiet: #5f6b76; --line: #d5dbe1;
    --bar: #3a6ea5; --reference: #b4bdc6; --goal: #a0410d;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --paper: #14181c; --ink: #e6eaee; --quiet: #98a4af; --line: #3a434c;
      --bar: #6ea8e0; --reference: #55606b; --goal: #f0a36b;
    }
  }
  body { margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 56rem; background: var(--paper); color: var(--ink);
    font: 16px/1.5 system-ui, sans-serif; }
  h1 { font-size: 1.7rem; margin: 0 0 .25rem; }
  h2 { font-size: 1.05rem; margin: 2.25rem 0 .5rem; }
  p, dl, table { margin: .4rem 0; }
  .quiet { color: var(--quiet); }
  .verdicts { display: flex; gap: 2rem; flex-wrap: wrap; margin: 1.25rem 0; }
  .verdicts strong { display: block; font-size: 1.8rem; line-height: 1.2; }
  .chart { width: 100%; height: auto; }
  table { border-collapse: collapse; width: 100%; font-size: .9rem; }
  th, td { text-align: left; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
  th { color: var(--quiet); font-weight: 500; }
  .warning { border-left: 4px solid var(--goal); padding: .25rem 0 .25rem 1rem; }
  details { margin-top: .25rem; }
  summary { cursor: pointer; color: var(--quiet); font-size: .9rem; }
  @media print { details { display: none; } }
`

export function htmlReport(report: BenchReport): string {
  const groups = groupsOf(report.rows)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Session persistence: append, replay, size and memory</title>
<style>${STYLE}${CHART_STYLE}</style>
</head>
<body>
<h1>Append, replay, size and memory</h1>
${facts(report)}
${verdicts(report)}
${warnings(report)}
${groups.map(section).join('\n')}
${references(report)}
</body>
</html>
`
}

function facts({ machine, startedAt, scale, backends }: BenchReport): string {
  const { sync } = machine
  const line = [
    startedAt.slice(0, 10),
    `Node ${machine.node.slice(1)}`,
    machine.platform,
    `${machine.cpus} × ${machine.cpu}`,
    machine.fileSystem ?? 'unknown file system',
    `a bare write + fdatasync takes ${threeDigits(sync.syncMs.median * 1000)} µs`,
    `${scale} run`,
  ]
  const rows = backends.map(({ name, description }) => {
    const modes = Object.entries(description.modes).map(([mode, value]) => `${mode} ${value}`)
    return `<tr><td>${escaped(name)}</td><td>${escaped(description.capabilities.durability)}</td><td>${escaped(modes.join(', '))}</td></tr>`
  })
  return `<p class="quiet">${escaped(line.join(' · '))}</p>
<table><thead><tr><th>backend</th><th>durable against</th><th>modes, read back</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function verdicts({ rows }: BenchReport): string {
  const count = (kind: Row['verdict']['kind']): number => rows.filter((row) => row.verdict.kind === kind).length
  return `<div class="verdicts">
<div><strong>${count('reached')}</strong>goals reached</div>
<div><strong>${count('missed')}</strong>missed</div>
<div><strong>${count('unclear')}</strong>too close or too noisy to say</div>
</div>`
}

function warnings({ failures, partial, machine, unavailable }: BenchReport): string {
  const lines = failures.map(({ scenario, message }) => `${scenario} failed: ${message}`)
  if (partial) lines.unshift('This run is partial: what is missing was not measured.')
  if (!machine.sync.plausible)
    lines.push('Syncs here are too fast to reach a disk: append ratios say nothing about a real one.')
  if (machine.load > machine.cpus)
    lines.push(`The machine was busy with other work (load ${threeDigits(machine.load)}) when the run began.`)
  for (const { name, reason } of unavailable) lines.push(`${name} was not measured: ${reason}`)
  return lines.map((line) => `<p class="warning">${escaped(line)}</p>`).join('\n')
}

function section(rows: readonly Row[]): string {
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
      verdictWords(row),
    ]
    return `<tr>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`
  })
  const heads = ['', 'through', 'goal', 'median (95 % interval)', 'absolute', 'samples', 'verdict']
  return `<section>
<h2>${escaped(first.title)}</h2>
${groupChart(rows)}
<details><summary>Numbers</summary>
<table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead><tbody>${body.join('')}</tbody></table>
</details>
</section>`
}

function references({ scenarios }: BenchReport): string {
  const rows = scenarios.map(
    ({ id, description }) => `<tr><td>${escaped(id)}</td><td>${escaped(description)}</td></tr>`,
  )
  return `<h2>What was measured</h2>
<table><tbody>${rows.join('')}</tbody></table>
<p class="quiet">Every number is the median of ratios within one interleaved run; the line over a bar is its 95 % interval, the
thick mark the goal. References are gray: they do not lock, check or recover.</p>`
}
