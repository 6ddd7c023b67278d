import { displayWidth } from './display-width.ts'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** May be cut to make the table fit the terminal. At most one column. */
  readonly flexible?: boolean
}

export interface Cell {
  readonly text: string
  /** Applied after padding and cutting. */
  readonly style?: (text: string) => string
}

const gap = '  '

/** Aligned lines, by display width (CJK characters take two columns). Without `width` nothing is cut. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly (Cell | string)[])[],
  options: { readonly width?: number; readonly titleStyle?: (text: string) => string } = {},
): string[] {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'string' ? { text: cell } : cell)))
  const titleStyle = options.titleStyle
  const titles = columns.map(({ title }) =>
    titleStyle === undefined ? { text: title } : { text: title, style: titleStyle },
  )
  const lines = columns.every(({ title }) => title === '') ? cells : [titles, ...cells]
  const widths = columns.map((_column, index) =>
    Math.max(...lines.map((line) => displayWidth(line[index]?.text ?? '')), 0),
  )
  fit(columns, widths, options.width)
  return lines.map((line) =>
    columns
      .map((column, index) => place(line[index], column, widths[index] ?? 0, index === columns.length - 1))
      .join(gap)
      .trimEnd(),
  )
}

function fit(columns: readonly Column[], widths: number[], width: number | undefined): void {
  const flexible = columns.findIndex((column) => column.flexible)
  if (width === undefined || flexible < 0) return
  const total = widths.reduce((sum, each) => sum + each, 0) + gap.length * (columns.length - 1)
  if (total > width) widths[flexible] = Math.max(8, (widths[flexible] ?? 0) - (total - width))
}

function place(cell: Cell | undefined, column: Column, width: number, last: boolean): string {
  const text = cutTo(cell?.text ?? '', width)
  const padding = ' '.repeat(Math.max(0, width - displayWidth(text)))
  const styled = cell?.style === undefined ? text : cell.style(text)
  if (column.align === 'right') return padding + styled
  return last ? styled : styled + padding
}

/** At most `width` columns, with an ellipsis where something was left out. */
export function cutTo(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  let kept = ''
  let used = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const wide = displayWidth(segment)
    if (used + wide > width - 1) break
    kept += segment
    used += wide
  }
  return `${kept}…`
}

/** Breaks lines at spaces so that none is wider than `width`. */
export function wrapLines(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = []
    let line = ''
    for (const word of paragraph.split(' ')) {
      const longer = line === '' ? word : `${line} ${word}`
      if (line !== '' && displayWidth(longer) > width) {
        lines.push(line)
        line = word
      } else line = longer
    }
    return [...lines, line]
  })
}
