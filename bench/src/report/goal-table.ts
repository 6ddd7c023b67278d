/** Every goal, with what was measured of it, backend by backend: the first thing that a reader wants to know. */
import { GOAL_LINES, limitOf } from '../goals/goals.ts'
import type { BenchReport } from './report.ts'
import type { Row } from './row.ts'

export interface GoalCell {
  readonly limit: number
  /** Through the whole session, where it was measured so; undefined: not measured in this run. */
  readonly row: Row | undefined
}

export interface GoalTableLine {
  readonly what: string
  /** By backend, in the order of the table; undefined where nothing was promised. */
  readonly cells: readonly (GoalCell | undefined)[]
}

export interface GoalTable {
  readonly backends: readonly string[]
  readonly lines: readonly GoalTableLine[]
}

/** Undefined when no backend of the report is held to a goal, and when nothing was measured that has one. */
export function goalTable({ backends, rows }: Pick<BenchReport, 'backends' | 'rows'>): GoalTable | undefined {
  const held = backends.filter(({ column }) => column !== undefined)
  const lines = GOAL_LINES.map((line): GoalTableLine => {
    const cells = held.map((backend): GoalCell | undefined => {
      const limit = limitOf(line, backend)
      if (limit === undefined) return undefined
      const found = rows.filter((row) => row.id === line.row && row.backend === backend.name)
      return { limit, row: found.find(({ through }) => through === 'session') ?? found[0] }
    })
    return { what: line.what, cells }
  }).filter(({ cells }) => cells.some((cell) => cell !== undefined))
  if (!lines.some(({ cells }) => cells.some((cell) => cell?.row?.goal !== undefined))) return undefined
  return { backends: held.map(({ name }) => name), lines }
}
