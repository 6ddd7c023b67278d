/**
 * One group of rows as bars of plain HTML, which a narrow screen can lay out anew: a bar to the median, a line over its
 * 95 % interval, a thick mark at the goal, and every number in words beside it, so that nothing depends on colour.
 */
import { escaped } from './chart.ts'
import { absolute, interval, quantity, verdictMark, verdictWords } from './quantity.ts'
import type { Row } from './row.ts'

export const BARS_STYLE = `
  .bars { display: grid; grid-template-columns: minmax(7.5rem, auto) minmax(6rem, 1fr) minmax(9.5rem, auto) minmax(8.5rem, auto);
    gap: .3rem .9rem; align-items: center; font-size: .92rem; }
  .bars > div { display: contents; }
  .label .port { color: var(--quiet); font-size: .85em; }
  .track { position: relative; height: 1.15rem; background: var(--track); border-radius: 3px; overflow: hidden; }
  .fill { position: absolute; inset: 0 auto 0 0; background: var(--bar); border-radius: 3px 0 0 3px; }
  .port-bar .fill { background: repeating-linear-gradient(135deg, var(--bar) 0 5px, var(--bar-light) 5px 9px); }
  .reference .fill { background: var(--reference); }
  .whisker { position: absolute; top: 50%; height: 0; border-top: 2px solid var(--ink); transform: translateY(-1px); }
  .goal { position: absolute; top: 0; bottom: 0; width: 4px; margin-left: -2px; background: var(--goal); outline: 1px solid var(--paper); }
  .number { font-variant-numeric: tabular-nums; white-space: nowrap; }
  .number small { color: var(--quiet); font-size: .88em; margin-left: .5em; }
  .verdict { color: var(--quiet); font-size: .88em; }
  .verdict b { font-weight: 600; }
  .reached b { color: var(--good); }
  .missed b { color: var(--goal); }
  .note { grid-column: 1 / -1; color: var(--quiet); font-size: .84em; margin: -.15rem 0 .2rem; }
  @media (max-width: 46rem) {
    .bars { grid-template-columns: 1fr auto; gap: .1rem .75rem; }
    .track { grid-column: 1 / -1; order: 0; }
    .bars .label, .bars .number { order: -1; }
    .bars > div { display: grid; grid-template-columns: subgrid; grid-column: 1 / -1; margin-bottom: .55rem; row-gap: .1rem; }
    .verdict { grid-column: 1 / -1; }
    .number { text-align: right; }
  }
`

export function groupBars(rows: readonly Row[]): string {
  const most = Math.max(...rows.flatMap(({ measured, goal }) => [measured.median, goal ?? 0]), Number.MIN_VALUE) * 1.12
  const percent = (value: number): string => `${Math.min(100, Math.max(0, (value / most) * 100)).toFixed(1)}%`
  return `<div class="bars" role="group">\n${rows.map((row) => bar(row, percent)).join('\n')}\n</div>`
}

function bar(row: Row, percent: (value: number) => string): string {
  const { median, low, high, samples } = row.measured
  const start = Number.parseFloat(percent(low))
  const width = (Number.parseFloat(percent(high)) - start).toFixed(1)
  const whisker = samples === 1 || low === high ? '' : `<i class="whisker" style="left:${start}%;width:${width}%"></i>`
  const goal = row.goal === undefined ? '' : `<i class="goal" style="left:${percent(row.goal)}"></i>`
  const port = row.through === 'port' ? ' <span class="port">at the port</span>' : ''
  const kind = row.role === 'reference' ? 'reference' : row.through === 'port' ? 'port-bar' : 'session-bar'
  const small = absolute(row)
  const note = row.note === undefined ? '' : `<span class="note">${escaped(`${row.backend}: ${row.note}`)}</span>`
  const title = escaped(interval(row.measured, row.unit))
  return `<div class="${kind}"><span class="label">${escaped(row.backend)}${port}</span><span class="track" title="${title}"><i class="fill" style="width:${percent(median)}"></i>${whisker}${goal}</span><span class="number">${escaped(quantity(median, row.unit))}${small === '' ? '' : `<small>${escaped(small)}</small>`}</span><span class="verdict ${row.verdict.kind}">${verdict(row)}</span>${note}</div>`
}

function verdict(row: Row): string {
  if (row.goal === undefined) return ''
  return `<b>${verdictMark(row)} ${escaped(verdictWords(row))}</b> goal ≤ ${escaped(quantity(row.goal, row.unit))}`
}
