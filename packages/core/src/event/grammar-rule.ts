/** What a rule of the grammar is, and what it judges by. */
import type { AnySessionEvent, SeqRange } from './event.ts'
import type { Fields } from './json-shape.ts'
import { isSeq } from './json-shape.ts'
import type { LiveSurface } from './live-run.ts'
import type { CoreEventType } from './vocabulary-table.ts'

/** What the next event is judged by: what is open, and which messages are live. */
export interface GrammarState {
  readonly turns: OpenParts
  readonly surface: LiveSurface
}

/** Turns, steps and calls as far as the grammar needs them; the `turns` projection keeps them. */
export interface OpenParts {
  /** Number of the newest turn; 0 before the first. */
  readonly turns: number
  readonly openTurn: number | undefined
  /** Number of the newest step of the newest turn; 0 before its first. */
  readonly steps: number
  readonly openStep: number | undefined
  /** Number of the newest request of the open step; 0 before its first. */
  readonly attempt: number
  readonly compaction: object | undefined
  /** Calls of the open step; outside a step, of the newest answer. */
  readonly calls: {
    readonly openCount: number
    get(callId: string): { readonly begunAt?: number; readonly answered?: true } | undefined
  }
}

/** One row of the table. */
export interface GrammarRule {
  readonly id: string
  /** The core types that it binds; `any` also binds types that this program does not know. */
  readonly types: 'any' | readonly CoreEventType[]
  /** What is refused, as a sentence without a full stop. */
  readonly refuses: string
  readonly breaks: (state: GrammarState, event: AnySessionEvent, data: Fields) => boolean
}

export const hasOpenCalls = ({ turns }: GrammarState): boolean => turns.calls.openCount > 0

/** Not one that takes the place of live messages. */
export const isAppended = (event: AnySessionEvent): boolean => event.surface === undefined

export function isRange(value: unknown): value is SeqRange {
  return Array.isArray(value) && value.length === 2 && value.every(isSeq)
}
