/** The report as a table between two marks of a document, so that no number in a document is typed by hand. */
import { SessionError } from 'session-persistence'
import { type GoalCell, goalTable } from './goal-table.ts'
import { absolute, interval, quantity, threeDigits, verdictMark, verdictWords } from './quantity.ts'
import type { BenchReport } from './report.ts'
import { groupsOf } from './row-groups.ts'

export const MARK_BEGIN = '<!-- bench results -->'
export const MARK_END = '<!-- end of bench results -->'

/** The document with a new table between its marks. INVALID_ARGUMENT when it lacks them. */
export function withResults(document: string, report: BenchReport): string {
  const { begin, end } = marksOf(document)
  return `${document.slice(0, begin + MARK_BEGIN.length)}\n\n${markdownReport(report)}\n${document.slice(end)}`
}

/** Where the marks stand. INVALID_ARGUMENT for a document that lacks them. */
export function marksOf(document: string): { readonly begin: number; readonly end: number } {
  const begin = document.indexOf(MARK_BEGIN)
  const end = document.indexOf(MARK_END)
  if (begin !== -1 && end > begin) return { begin, end }
  throw new SessionError('INVALID_ARGUMENT', `the document lacks the marks ${MARK_BEGIN} and ${MARK_END}`)
}

export function markdownReport(report: BenchReport): string {
  const { machine, startedAt, scale } = report
  const sync = `${threeDigits(machine.sync.syncMs.median * 1000)} µs`
  const facts = `${startedAt.slice(0, 10)}, Node ${machine.node.slice(1)}, ${machine.platform}, ${machine.cpus} CPUs, ${machine.fileSystem ?? 'unknown file system'}, load ${threeDigits(machine.load)}; a bare write + fdatasync takes ${sync}; ${scale} run.`
  const rows = groupsOf(report.rows)
    .flat()
    .map((row) => [
      row.title,
      row.backend,
      row.through === 'none' ? '' : row.through,
      row.goal === undefined ? '' : `≤ ${quantity(row.goal, row.unit)}`,
      interval(row.measured, row.unit),
      absolute(row),
      verdictWords(row),
    ])
  const goals = goalMatrix(report)
  const heads = ['what', 'backend', 'through', 'goal', 'median (95 %)', 'absolute', 'verdict']
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const partial = report.partial ? '\n\nPartial: what is missing was not measured.' : ''
  const table = [line(heads), line(heads.map(() => '---')), ...rows.map(line)]
  return `${[`${facts}${partial}`, '', ...goals, ...table].join('\n')}\n`
}

/** A column a backend: what was measured, the verdict as a sign, and the goal. Empty when nothing has one. */
function goalMatrix(report: BenchReport): readonly string[] {
  const table = goalTable(report)
  if (table === undefined) return []
  const cellOf = (cell: GoalCell | undefined): string => {
    if (cell === undefined) return ''
    const { row, limit } = cell
    if (row === undefined) return 'not measured'
    return `${verdictMark(row)} ${quantity(row.measured.median, row.unit)} (≤ ${quantity(limit, row.unit)})`.trim()
  }
  return [
    '✓ reached, ✗ missed, ? too close or too noisy to say; the goal in brackets.',
    '',
    `| goal | ${table.backends.join(' | ')} |`,
    `| --- |${table.backends.map(() => ' --- |').join('')}`,
    ...table.lines.map(({ what, cells }) => `| ${what} | ${cells.map(cellOf).join(' | ')} |`),
    '',
  ]
}
