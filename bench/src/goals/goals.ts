/**
 * What each backend is to reach, as data. A limit is an upper bound in the unit of its row. Measured numbers above it
 * are reported as missed, never left out.
 */
import type { BenchBackend, GoalColumn } from '../backend/bench-backend.ts'

interface Goal {
  readonly row: string
  /** For packed or for unpacked logs only; absent: for both. */
  readonly packs?: boolean
  readonly limit: number
}

const MEGABYTE = 1_000_000

/** The same for every backend that outlives its process. */
const SHARED: readonly Goal[] = [
  { row: 'pipelined', limit: 0.05 },
  { row: 'resume/snapshot', limit: 0.02 },
  { row: 'suffix/percent', limit: 0.03 },
  { row: 'suffix/50', limit: 2 },
  { row: 'open-writer', limit: 1.25 },
  { row: 'memory/resume', limit: 128 * MEGABYTE },
  { row: 'memory/stream', limit: 128 * MEGABYTE },
  { row: 'event-loop', limit: 10 },
  { row: 'syncs/flush-1', limit: 1 },
  { row: 'syncs/flush-100', limit: 1 },
  { row: 'syncs/pipelined', limit: 0.05 },
  { row: 'syncs/read', limit: 0 },
  { row: 'syncs/create', limit: 5 },
]

const COLUMNS: { readonly [column in GoalColumn]: readonly Goal[] } = {
  jsonl: [
    { row: 'append/1', packs: false, limit: 1.35 },
    { row: 'append/100', packs: true, limit: 0.85 },
    { row: 'append/1000', packs: true, limit: 0.5 },
    { row: 'many-sessions', limit: 0.45 },
    { row: 'replay/delta', packs: true, limit: 0.3 },
    { row: 'replay/delta', packs: false, limit: 0.85 },
    { row: 'replay/messages', limit: 0.85 },
    { row: 'resume/cold', packs: true, limit: 0.15 },
    { row: 'resume/cold', packs: false, limit: 0.35 },
    { row: 'size/delta', packs: true, limit: 0.23 },
    { row: 'list/page', limit: 14 },
    { row: 'create', limit: 3 },
  ],
  'jsonl-zstd': [
    { row: 'append/1', limit: 1.6 },
    { row: 'append/100', limit: 1.1 },
    { row: 'append/1000', limit: 0.5 },
    { row: 'many-sessions', limit: 0.45 },
    { row: 'replay/delta', limit: 0.3 },
    { row: 'replay/messages', limit: 1 },
    { row: 'resume/cold', limit: 0.15 },
    { row: 'size/delta/1', limit: 0.9 },
    { row: 'size/delta/10', limit: 0.17 },
    { row: 'size/delta', limit: 0.085 },
    { row: 'size/delta/sealed', limit: 0.06 },
    { row: 'size/messages/sealed', limit: 0.3 },
    { row: 'list/page', limit: 16 },
    { row: 'create', limit: 3 },
  ],
  sqlite: [
    { row: 'append/1', limit: 1 },
    { row: 'append/100', limit: 0.8 },
    { row: 'append/1000', limit: 0.5 },
    { row: 'many-sessions', limit: 0.35 },
    { row: 'replay/delta', limit: 0.3 },
    { row: 'replay/messages', limit: 0.95 },
    { row: 'resume/cold', limit: 0.15 },
    { row: 'size/delta', limit: 0.25 },
    { row: 'list/page', limit: 3 },
    { row: 'create', limit: 1.3 },
  ],
}

/** The limit for a row of a backend; undefined where nothing was promised. */
export function goalOf(row: string, { column, packs = false }: BenchBackend): number | undefined {
  if (column === undefined) return undefined
  return [...COLUMNS[column], ...SHARED].find(
    (goal) => goal.row === row && (goal.packs === undefined || goal.packs === packs),
  )?.limit
}

/** Goals that are stated for logs of 100,000 and 1,000,000 events and for 10,000 sessions. */
const FULL_SIZE_ONLY: readonly string[] = [
  'replay/delta',
  'replay/messages',
  'resume/cold',
  'resume/snapshot',
  'suffix/percent',
  'list/page',
  'memory/resume',
  'memory/stream',
]

/** False where a quick run measures something smaller than what the goal was stated for. */
export function holdsInQuickRuns(row: string): boolean {
  return !FULL_SIZE_ONLY.includes(row)
}
