/** The report as a table for a terminal. */

import { absolute, failureWords, interval, oneLine, quantity, threeDigits, verdictWords } from './quantity.ts'
import type { BenchReport } from './report.ts'
import type { Row } from './row.ts'
import { groupsOf } from './row-groups.ts'

export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly unsure: (text: string) => string
}

const plain = (text: string): string => text

export const PLAIN_STYLE: Style = { bold: plain, dim: plain, good: plain, bad: plain, unsure: plain }

const paint = (open: number, close: number) => (text: string) => `\u001B[${open}m${text}\u001B[${close}m`

export const COLOR_STYLE: Style = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  good: paint(32, 39),
  bad: paint(31, 39),
  unsure: paint(33, 39),
}

export function terminalReport(report: BenchReport, style: Style = PLAIN_STYLE): string {
  const lines = [
    ...machineLines(report, style),
    '',
    ...table(groupsOf(report.rows).flat(), style),
    '',
    ...footer(report, style),
  ]
  return `${lines.join('\n')}\n`
}

function machineLines({ machine, backends, unavailable, scale }: BenchReport, style: Style): string[] {
  const { sync } = machine
  const dim = (text: string): string => style.dim(oneLine(text))
  const lines = [
    dim(
      `Node ${machine.node.slice(1)}, ${machine.platform}, ${machine.cpus} × ${machine.cpu}, load ${threeDigits(machine.load)}`,
    ),
    dim(
      `${machine.fileSystem ?? 'unknown file system'}: a bare write + fdatasync takes ${threeDigits(sync.syncMs.median * 1000)} µs; ${scale} run`,
    ),
  ]
  for (const { name, description } of backends) {
    const modes = Object.entries(description.modes).map(([mode, value]) => `${mode} ${value}`)
    const facts = [`durable against ${lossOf(description.capabilities.durability)}`, ...modes]
    lines.push(dim(`${name}: ${facts.join(', ')}`))
  }
  for (const { name, reason } of unavailable) lines.push(dim(`${name}: not measured, ${reason}`))
  if (!sync.plausible) {
    lines.push(style.unsure('Syncs here are too fast to reach a disk: append ratios say nothing about a real one.'))
  }
  return lines
}

function lossOf(durability: 'memory' | 'process' | 'power'): string {
  if (durability === 'power') return 'power loss'
  return durability === 'process' ? 'the death of the process' : 'nothing'
}

interface Cell {
  readonly text: string
  readonly style?: (text: string) => string
}

function table(rows: readonly Row[], style: Style): string[] {
  const heading = ['backend', 'through', 'goal', 'measured (95 %)', '', 'verdict'].map((text) => ({
    text,
    style: style.dim,
  }))
  const said = new Set<string>()
  const body = rows.map((row) => {
    const { note = '' } = row
    const first = note !== '' && !said.has(note)
    said.add(note)
    return cellsOf(row, first ? note : '', style)
  })
  const widths = heading.map((_, column) =>
    Math.max(...[heading, ...body].map((cells) => cells[column]?.text.length ?? 0)),
  )
  const line = (cells: readonly Cell[]): string =>
    `  ${cells.map((cell, column) => (cell.style ?? plain)(cell.text) + ' '.repeat((widths[column] ?? 0) - cell.text.length)).join('  ')}`.trimEnd()
  const lines = [line(heading)]
  let title = ''
  for (const [index, row] of rows.entries()) {
    if (row.title !== title) lines.push('', style.bold(oneLine(row.title)))
    title = row.title
    lines.push(line(body[index] ?? []))
  }
  return lines
}

/** `note`: what a reference does not promise, said once. */
function cellsOf(row: Row, note: string, style: Style): readonly Cell[] {
  const colour = { reached: style.good, missed: style.bad, unclear: style.unsure, none: style.dim }[row.verdict.kind]
  const cells: readonly Cell[] = [
    { text: row.backend, ...(row.role === 'reference' ? { style: style.dim } : {}) },
    { text: row.through === 'none' ? '' : row.through, style: style.dim },
    { text: row.goal === undefined ? '' : `≤ ${quantity(row.goal, row.unit)}` },
    { text: interval(row.measured, row.unit) },
    { text: absolute(row), style: style.dim },
    { text: note === '' ? verdictWords(row) : note, style: note === '' ? colour : style.dim },
  ]
  return cells.map((cell) => ({ ...cell, text: oneLine(cell.text) }))
}

function footer({ rows, failures, partial, scenarios, seconds }: BenchReport, style: Style): string[] {
  const count = (kind: Row['verdict']['kind']): number => rows.filter((row) => row.verdict.kind === kind).length
  const lines = scenarios.flatMap(({ caution }) => (caution === undefined ? [] : [style.unsure(oneLine(caution))]))
  lines.push(...failures.map((failure) => style.bad(failureWords(failure))))
  const judged = rows.some(({ goal }) => goal !== undefined)
  const verdicts = `${count('reached')} goals reached, ${count('missed')} missed, ${count('unclear')} undecided`
  const result = judged ? `${verdicts} in ${Math.round(seconds)} s` : `measured in ${Math.round(seconds)} s`
  lines.push(`${partial ? 'Partial run, what is missing was not measured: ' : ''}${result}`)
  return lines
}
