/**
 * One group of rows as an SVG: a bar to the median, a line over its 95 % interval, a mark at the goal, and every number
 * in words beside it, so that nothing depends on colour.
 */
import { absolute, quantity, verdictWords } from './quantity.ts'
import type { Row } from './row.ts'

const WIDTH = 820
const LABEL_WIDTH = 190
const VALUE_WIDTH = 290
const ROW_HEIGHT = 30
const TOP = 26
const PLOT_LEFT = LABEL_WIDTH + 8
const PLOT_RIGHT = WIDTH - VALUE_WIDTH - 8
/** A group whose values are further apart than this gets a logarithmic axis, and says so. */
const LINEAR_RANGE_MAX = 60

/** Colours by role, for light and for dark; the page sets the same variables. */
export const CHART_STYLE = `
  .chart text { font: 13px system-ui, sans-serif; fill: var(--ink, #1c2024); }
  .chart .quiet { fill: var(--quiet, #5f6b76); }
  .chart .bar { fill: var(--bar, #3a6ea5); }
  .chart .reference { fill: var(--reference, #b4bdc6); }
  .chart .interval, .chart .cap { stroke: var(--ink, #1c2024); stroke-width: 1.5; }
  .chart .goal { stroke: var(--goal, #a0410d); stroke-width: 2; stroke-dasharray: 4 3; }
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
  const place = scaleOf(rows)
  const body = rows.map((row, index) => bar(row, TOP + index * ROW_HEIGHT, place)).join('')
  const goals = [...new Set(rows.flatMap(({ goal }) => goal ?? []))]
  const marks = goals.map((goal) => goalMark(goal, first, place, height)).join('')
  const axis = `<line class="axis" x1="${PLOT_LEFT}" x2="${PLOT_LEFT}" y1="${TOP}" y2="${height - 6}"/>`
  const note = place.logarithmic
    ? `<text class="quiet" x="${PLOT_RIGHT}" y="14" text-anchor="end">log scale</text>`
    : ''
  const head = standalone ? ' xmlns="http://www.w3.org/2000/svg"' : ''
  const style = standalone ? `<style>${CHART_STYLE}</style>` : ''
  return (
    `<svg class="chart"${head} viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(first.title)}">` +
    `${style}${axis}${marks}${body}${note}</svg>`
  )
}

interface Scale {
  readonly logarithmic: boolean
  x(value: number): number
}

function scaleOf(rows: readonly Row[]): Scale {
  const medians = rows.map(({ measured }) => measured.median)
  // A single wild interval must not squeeze everything else: it is cut at the edge.
  const most = Math.max(...medians, ...rows.flatMap(({ goal }) => goal ?? []), Number.MIN_VALUE) * 1.15
  const positive = medians.filter((value) => value > 0)
  const least = Math.min(...positive, most)
  const logarithmic = most / least > LINEAR_RANGE_MAX
  const width = PLOT_RIGHT - PLOT_LEFT
  const share = logarithmic
    ? (value: number) => (value <= 0 ? 0 : Math.log(value / (least / 2)) / Math.log(most / (least / 2)))
    : (value: number) => value / most
  return { logarithmic, x: (value) => PLOT_LEFT + width * Math.min(1, Math.max(0, share(value))) }
}

function bar(row: Row, top: number, { x }: Scale): string {
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
  const verdict = verdictWords(row)
  return (
    `<text x="${LABEL_WIDTH}" y="${middle + 4}" text-anchor="end"${row.role === 'reference' ? ' class="quiet"' : ''}>${escaped(label)}</text>` +
    `<rect class="${row.role === 'reference' ? 'reference' : 'bar'}" x="${PLOT_LEFT}" y="${middle - 8}" width="${Math.max(1, x(median) - PLOT_LEFT)}" height="16" rx="2"/>` +
    whisker +
    `<text x="${PLOT_RIGHT + 12}" y="${middle + 4}">${escaped(value)}${verdict === '' ? '' : `<tspan class="quiet"> · ${escaped(verdict)}</tspan>`}</text>`
  )
}

function goalMark(goal: number, { unit }: Row, { x }: Scale, height: number): string {
  const at = x(goal)
  return (
    `<line class="goal" x1="${at}" x2="${at}" y1="${TOP - 6}" y2="${height - 6}"/>` +
    `<text class="quiet" x="${at}" y="14" text-anchor="middle">≤ ${escaped(quantity(goal, unit))}</text>`
  )
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
