/**
 * What each backend is to reach, as data: line by line as the goals are written. A limit is an upper bound in the unit
 * of its row. Measured numbers above it are reported as missed, never left out.
 */
import type { BenchBackend, GoalColumn } from '../backend/bench-backend.ts'

/** One number, or one for logs with packed runs and one for logs without. */
type Limit = number | { readonly packed?: number; readonly unpacked?: number }

export interface GoalLine {
  /** Id of the rows that are held to it. */
  readonly row: string
  readonly what: string
  readonly limits: { readonly [column in GoalColumn]?: Limit }
}

const MEGABYTE = 1_000_000
const everywhere = (limit: number): GoalLine['limits'] => ({ jsonl: limit, 'jsonl-zstd': limit, sqlite: limit })

/** One by one and in pages: the goal says nothing of how the events are handed out. */
const REPLAY_DELTA: GoalLine['limits'] = {
  jsonl: { packed: 0.3, unpacked: 0.85 },
  'jsonl-zstd': 0.3,
  sqlite: 0.3,
}
const REPLAY_MESSAGES: GoalLine['limits'] = { jsonl: 0.85, 'jsonl-zstd': 1, sqlite: 0.95 }

export const GOAL_LINES: readonly GoalLine[] = Object.freeze([
  {
    row: 'append/1',
    what: 'durable append, 1 event a flush',
    limits: { jsonl: 1.35, 'jsonl-zstd': 1.6, sqlite: 1 },
  },
  {
    row: 'append/100',
    what: 'durable append, 100 events a flush',
    limits: { jsonl: { packed: 0.85 }, 'jsonl-zstd': 1.1, sqlite: 0.8 },
  },
  {
    row: 'append/1000',
    what: 'durable append, 1,000 events a flush',
    limits: { jsonl: { packed: 0.5 }, 'jsonl-zstd': 0.5, sqlite: 0.5 },
  },
  { row: 'pipelined', what: '2,000 append + flush pairs, batches an event', limits: everywhere(0.05) },
  { row: 'syncs/pipelined', what: '2,000 append + flush pairs, syncs an event', limits: everywhere(0.05) },
  {
    row: 'many-sessions',
    what: '64 sessions at once, an append',
    limits: { jsonl: 0.45, 'jsonl-zstd': 0.45, sqlite: 0.35 },
  },
  {
    row: 'replay/delta',
    what: 'full replay, delta',
    limits: REPLAY_DELTA,
  },
  {
    row: 'replay/messages',
    what: 'full replay, messages',
    limits: REPLAY_MESSAGES,
  },
  {
    row: 'replay/delta/pages',
    what: 'full replay in pages, delta',
    limits: REPLAY_DELTA,
  },
  {
    row: 'replay/messages/pages',
    what: 'full replay in pages, messages',
    limits: REPLAY_MESSAGES,
  },
  {
    row: 'resume/cold',
    what: 'cold resume without a snapshot, delta',
    limits: { jsonl: { packed: 0.15, unpacked: 0.35 }, 'jsonl-zstd': 0.15, sqlite: 0.15 },
  },
  { row: 'resume/snapshot', what: 'cold resume with a snapshot near the end', limits: everywhere(0.02) },
  { row: 'suffix/percent', what: 'last 1 % of a long log', limits: everywhere(0.03) },
  { row: 'suffix/50', what: 'last 50 events of a long log', limits: everywhere(2) },
  { row: 'open-writer', what: "the port's openWriter, flat", limits: everywhere(1.25) },
  { row: 'size/delta/1', what: 'bytes, delta, 1 a flush', limits: { 'jsonl-zstd': 0.9 } },
  { row: 'size/delta/10', what: 'bytes, delta, 10 a flush', limits: { 'jsonl-zstd': 0.17, sqlite: 0.25 } },
  {
    row: 'size/delta/100',
    what: 'bytes, delta, 100 a flush',
    limits: { jsonl: { packed: 0.23 }, 'jsonl-zstd': 0.085, sqlite: 0.25 },
  },
  { row: 'size/delta/sealed', what: 'bytes, delta, sealed', limits: { 'jsonl-zstd': 0.06, sqlite: 0.25 } },
  { row: 'size/messages/sealed', what: 'bytes, messages, sealed', limits: { 'jsonl-zstd': 0.3 } },
  {
    row: 'list/page',
    what: 'list page 1 of 10,000, newest first',
    limits: { jsonl: 14, 'jsonl-zstd': 16, sqlite: 3 },
  },
  { row: 'create', what: 'create a session', limits: { jsonl: 3, 'jsonl-zstd': 3, sqlite: 1.3 } },
  { row: 'memory/resume', what: 'memory to resume a long log', limits: everywhere(128 * MEGABYTE) },
  { row: 'memory/stream', what: 'memory to stream a long log', limits: everywhere(128 * MEGABYTE) },
  { row: 'event-loop', what: 'event-loop delay p99, streaming', limits: everywhere(10) },
  { row: 'syncs/flush-1', what: 'syncs a flush of 1 event', limits: everywhere(1) },
  { row: 'syncs/flush-100', what: 'syncs a flush of 100 events', limits: everywhere(1) },
  { row: 'syncs/read', what: 'syncs a read', limits: everywhere(0) },
  { row: 'syncs/create', what: 'syncs to create', limits: everywhere(5) },
  { row: 'ahead/append', what: 'ahead of D: single appends, 3 times', limits: everywhere(1 / 3) },
  { row: 'ahead/replay', what: 'ahead of D: full replay, 2 times', limits: everywhere(1 / 2) },
  { row: 'ahead/memory', what: 'ahead of D: memory, a fifth', limits: everywhere(1 / 5) },
  { row: 'ahead/size', what: 'ahead of D: smaller', limits: { 'jsonl-zstd': 1 } },
])

/** What a backend is held to; of a report as well as of a backend that is being measured. */
export type HeldTo = Pick<BenchBackend, 'column' | 'packs'>

/** The limit of a line for a backend; undefined where nothing was promised. */
export function limitOf({ limits }: GoalLine, { column, packs = false }: HeldTo): number | undefined {
  const limit = column === undefined ? undefined : limits[column]
  if (typeof limit !== 'object') return limit
  return packs ? limit.packed : limit.unpacked
}

/** The limit for a row of a backend; undefined where nothing was promised. */
export function goalOf(row: string, backend: HeldTo): number | undefined {
  const line = GOAL_LINES.find((one) => one.row === row)
  return line === undefined ? undefined : limitOf(line, backend)
}

/** Goals that are stated for logs of 100,000 and 1,000,000 events and for 10,000 sessions. */
const FULL_SIZE_ONLY: readonly string[] = [
  'replay/delta',
  'replay/messages',
  'replay/delta/pages',
  'replay/messages/pages',
  'resume/cold',
  'resume/snapshot',
  'suffix/percent',
  'list/page',
  'memory/resume',
  'memory/stream',
  'ahead/replay',
  'ahead/memory',
]

/** False where a quick run measures something smaller than what the goal was stated for. */
export function holdsInQuickRuns(row: string): boolean {
  return !FULL_SIZE_ONLY.includes(row)
}
