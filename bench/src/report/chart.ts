/**
 * One group of rows as an SVG: a bar to the median, a line over its 95 % interval, a thick mark at the goal, and every number
 * in words beside it, so that nothing depends on colour.
 */
import { absolute, quantity, verdictWords } from './quantity.ts'
import type { Row } from './row.ts'

const WIDTH = 820
const LABEL_WIDTH = 190
const VALUE_WIDTH = 330
const ROW_HEIGHT = 28
const TOP = 6
const PLOT_LEFT = LABEL_WIDTH + 8
const PLOT_RIGHT = WIDTH - VALUE_WIDTH - 8
/** Colours by role, for light and for dark; the page sets the same variables. */
export const CHART_STYLE = `
  .chart text { font: 13px system-ui, sans-serif; fill: var(--ink, #1c2024); }
  .chart .quiet { fill: var(--quiet, #5f6b76); }
  .chart .bar { fill: var(--bar, #3a6ea5); }
  .chart .reference { fill: var(--reference, #b4bdc6); }
  .chart .interval, .chart .cap { stroke: var(--ink, #1c2024); stroke-width: 1.5; }
  .chart .goal { stroke: var(--goal, #a0410d); stroke-width: 3; }
  .chart .axis { stroke: var(--line, #d5dbe1); }
  @media (prefers-color-scheme: dark) {
    .chart text { fill: var(--ink, #e6eaee); }
    .chart .quiet { fill: var(--quiet, #98a4af); }
    .chart .bar { fill: var(--bar, #6ea8e0); }
    .chart .reference { fill: var(--reference, #55606b); }
    .chart .interval, .chart .cap { stroke: var(--ink, #e6eaee); }
    .chart .goal { stroke: var(--goal, #f0a36b); }
    .chart .axis { stroke: var(--line, #3a434c); }
  }
`

/** `standalone` for a file of its own: then it brings its namespace and its style. */
export function groupChart(rows: readonly Row[], standalone = false): string {
  const first = rows[0]
  if (first === undefined) return ''
  const height = TOP + rows.length * ROW_HEIGHT + 6
  const x = scaleOf(rows)
  const body = rows.map((row, index) => bar(row, TOP + index * ROW_HEIGHT, x)).join('')
  const axis = `<line class="axis" x1="${PLOT_LEFT}" x2="${PLOT_LEFT}" y1="${TOP}" y2="${height - 6}"/>`
  const head = standalone ? ' xmlns="http://www.w3.org/2000/svg"' : ''
  const style = standalone ? `<style>${CHART_STYLE}</style>` : ''
  return (
    `<svg class="chart"${head} viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(first.title)}">` +
    `${style}${axis}${body}</svg>`
  )
}

type Scale = (value: number) => number

/** From zero, so that lengths compare. A wild interval must not squeeze everything else: it is cut at the edge. */
function scaleOf(rows: readonly Row[]): Scale {
  const values = rows.flatMap(({ measured, goal }) => [measured.median, goal ?? 0])
  const most = Math.max(...values, Number.MIN_VALUE) * 1.15
  return (value) => PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * Math.min(1, Math.max(0, value / most))
}

function bar(row: Row, top: number, x: Scale): string {
  const { median, low, high, samples } = row.measured
  const middle = top + ROW_HEIGHT / 2
  const label = row.through === 'port' ? `${row.backend} (port)` : row.backend
  const whisker =
    samples === 1
      ? ''
      : `<line class="interval" x1="${x(low)}" x2="${x(high)}" y1="${middle}" y2="${middle}"/>` +
        [low, high]
          .map((end) => `<line class="cap" x1="${x(end)}" x2="${x(end)}" y1="${middle - 4}" y2="${middle + 4}"/>`)
          .join('')
  const value = [quantity(median, row.unit), absolute(row)].filter((text) => text !== '').join(' · ')
  const goal = row.goal === undefined ? '' : `≤ ${quantity(row.goal, row.unit)}`
  const verdict = [goal, verdictWords(row)].filter((text) => text !== '').join(' ')
  const mark =
    row.goal === undefined
      ? ''
      : `<line class="goal" x1="${x(row.goal)}" x2="${x(row.goal)}" y1="${middle - 12}" y2="${middle + 12}"/>`
  return (
    `<text x="${LABEL_WIDTH}" y="${middle + 4}" text-anchor="end"${row.role === 'reference' ? ' class="quiet"' : ''}>${escaped(label)}</text>` +
    `<rect class="${row.role === 'reference' ? 'reference' : 'bar'}" x="${PLOT_LEFT}" y="${middle - 8}" width="${Math.max(1, x(median) - PLOT_LEFT)}" height="16" rx="2"/>` +
    whisker +
    mark +
    `<text x="${PLOT_RIGHT + 12}" y="${middle + 4}">${escaped(value)}${verdict === '' ? '' : `<tspan class="quiet"> · ${escaped(verdict)}</tspan>`}</text>`
  )
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
