import type { AnySessionEvent, SessionEvent } from '../event/event.ts'
import { isLabels, isOptional, isRecord, isSeq, isString } from '../event/json-shape.ts'
import { AppendList } from './append-list.ts'
import type { Projection } from './projection.ts'
import { refuse } from './saved-state.ts'

export type Labels = { readonly [name: string]: string }

/** What a listing shows of a session. */
export interface Summary {
  readonly title?: string
  /** All `session/labels` laid over each other, newest on top; the header's labels lie below them. */
  readonly labels: Labels
  /** Turns started. */
  readonly turns: number
  /** Messages ever appended to the surface; replacements do not count. */
  readonly messages: number
}

/** As {@link Summary}, but labels are laid over each other only when asked for: relabelling often must stay cheap. */
export interface SummaryState extends Omit<Summary, 'title' | 'labels'> {
  readonly title: string | undefined
  readonly labels: AppendList<Labels>
}

/** Title, labels and counts. */
export const summaryProjection: Projection<SummaryState> = {
  name: 'summary',
  version: 1,
  initial: () => ({ title: undefined, labels: AppendList.of<Labels>(), turns: 0, messages: 0 }),
  apply(state: SummaryState, any: AnySessionEvent): SummaryState {
    const event = any as SessionEvent
    switch (event.type) {
      case 'session/title':
        return { ...state, title: event.data.title }
      case 'session/labels':
        return { ...state, labels: state.labels.push(event.data.labels) }
      case 'turn/start':
        return { ...state, turns: state.turns + 1 }
      case 'user/message':
      case 'assistant/message':
      case 'tool/result':
        return event.surface === undefined ? { ...state, messages: state.messages + 1 } : state
      default:
        return state
    }
  },
  save: (state: SummaryState) => summaryOf(state),
  load(saved: unknown): SummaryState {
    if (!isRecord(saved) || !isOptional(saved.title, isString) || !isLabels(saved.labels)) return refuse('a summary')
    if (!isSeq(saved.turns) || !isSeq(saved.messages)) return refuse('counts')
    const labels = AppendList.of(Object.keys(saved.labels).length === 0 ? [] : [saved.labels])
    return { title: saved.title, labels, turns: saved.turns, messages: saved.messages }
  },
}

export function summaryOf({ title, labels, turns, messages }: SummaryState): Summary {
  // Not Object.assign: a label may be named `__proto__`.
  const merged = new Map<string, string>()
  for (const some of labels) for (const [name, value] of Object.entries(some)) merged.set(name, value)
  return { ...(title !== undefined && { title }), labels: Object.fromEntries(merged), turns, messages }
}
