/**
 * What each backend is to reach, as data. A limit is an upper bound in the unit of its row. Measured numbers above it
 * are reported as missed, never left out.
 */
import type { BenchBackend, GoalColumn } from '../backend/bench-backend.ts'

interface Goal {
  readonly row: string
  readonly column: GoalColumn
  /** For packed or for unpacked logs only; absent: for both. */
  readonly packs?: boolean
  readonly limit: number
}

const MEGABYTE = 1_000_000

const GOALS: readonly Goal[] = [
  { row: 'append/1', column: 'jsonl', packs: false, limit: 1.35 },
  { row: 'append/100', column: 'jsonl', packs: true, limit: 0.85 },
  { row: 'append/1000', column: 'jsonl', packs: true, limit: 0.5 },
  { row: 'pipelined', column: 'jsonl', limit: 0.05 },
  { row: 'many-sessions', column: 'jsonl', limit: 0.45 },
  { row: 'replay/delta', column: 'jsonl', packs: true, limit: 0.3 },
  { row: 'replay/delta', column: 'jsonl', packs: false, limit: 0.85 },
  { row: 'replay/messages', column: 'jsonl', limit: 0.85 },
  { row: 'resume/cold', column: 'jsonl', packs: true, limit: 0.15 },
  { row: 'resume/cold', column: 'jsonl', packs: false, limit: 0.35 },
  { row: 'resume/snapshot', column: 'jsonl', limit: 0.02 },
  { row: 'suffix/percent', column: 'jsonl', limit: 0.03 },
  { row: 'suffix/50', column: 'jsonl', limit: 2 },
  { row: 'open-writer', column: 'jsonl', limit: 1.25 },
  { row: 'size/delta', column: 'jsonl', packs: true, limit: 0.23 },
  { row: 'list/page', column: 'jsonl', limit: 14 },
  { row: 'create', column: 'jsonl', limit: 3 },
  { row: 'memory/resume', column: 'jsonl', limit: 128 * MEGABYTE },
  { row: 'memory/stream', column: 'jsonl', limit: 128 * MEGABYTE },
  { row: 'event-loop', column: 'jsonl', limit: 10 },
  { row: 'syncs/flush-1', column: 'jsonl', limit: 1 },
  { row: 'syncs/flush-100', column: 'jsonl', limit: 1 },
  { row: 'syncs/pipelined', column: 'jsonl', limit: 0.05 },
  { row: 'syncs/read', column: 'jsonl', limit: 0 },
  { row: 'syncs/create', column: 'jsonl', limit: 5 },
]

/** The limit for a row of a backend; undefined where nothing was promised. */
export function goalOf(row: string, backend: BenchBackend): number | undefined {
  return GOALS.find(
    (goal) =>
      goal.row === row &&
      goal.column === backend.column &&
      (goal.packs === undefined || goal.packs === (backend.packs ?? false)),
  )?.limit
}
