import type { AnySessionEvent } from '../event/event.ts'
import { isEventOf } from '../event/event.ts'
import { isRecord, isSeq } from '../event/json-shape.ts'
import type { Usage } from '../event/vocabulary.ts'
import type { Projection } from './projection.ts'
import { refuse } from './saved-state.ts'

/** Token counts summed over all answers, and answers counted. */
export interface UsageState {
  readonly total: Required<Usage>
  readonly answers: number
}

/** Sums what answers report. Replacing an answer on the surface is not a new answer and counts nothing. */
export const usageProjection: Projection<UsageState> = {
  name: 'usage',
  version: 1,
  initial: () => ({ total: sum({}, {}), answers: 0 }),
  apply(state: UsageState, event: AnySessionEvent): UsageState {
    if (!isEventOf(event, 'assistant/message') || event.surface !== undefined) return state
    const { usage } = event.data
    return { total: isRecord(usage) ? sum(state.total, usage) : state.total, answers: state.answers + 1 }
  },
  load(saved: unknown): UsageState {
    if (!isRecord(saved) || !isRecord(saved.total) || !isSeq(saved.answers)) return refuse('usage')
    return { total: sum(saved.total, {}), answers: saved.answers }
  },
}

function sum(a: Usage, b: Usage): Required<Usage> {
  return {
    inputTokens: total(a.inputTokens, b.inputTokens),
    outputTokens: total(a.outputTokens, b.outputTokens),
    cacheReadTokens: total(a.cacheReadTokens, b.cacheReadTokens),
    cacheWriteTokens: total(a.cacheWriteTokens, b.cacheWriteTokens),
    reasoningTokens: total(a.reasoningTokens, b.reasoningTokens),
  }
}

/** Stored data is not validated again: one odd count must not spoil the sum, nor may the sum leave what JSON carries. */
function total(a: unknown, b: unknown): number {
  return Math.min((isSeq(a) ? a : 0) + (isSeq(b) ? b : 0), Number.MAX_SAFE_INTEGER)
}
