/**
 * The grammar of a log as one table. Stored data is never validated again by schemas; the rules therefore also check
 * the shapes that projections rely on, so that a hostile log is refused instead of crashing a fold.
 * `docs/grammar.md` is made from this table.
 */
import type { GrammarRule } from './grammar-rule.ts'
import { isRange } from './grammar-rule.ts'
import { isLabels, isRecord, isSeq, isString, isSurfaceType } from './json-shape.ts'
import { CALL_RULES, SURFACE_RULES } from './message-rules.ts'
import { PLACE_RULES, TURN_RULES } from './turn-rules.ts'
import { coreEventTypes } from './vocabulary-table.ts'

const ENVELOPE_RULES: readonly GrammarRule[] = [
  {
    id: 'surface-on-messages-only',
    types: 'any',
    refuses: 'a `surface` option on anything but a message',
    breaks: (_, event) => event.surface !== undefined && !isSurfaceType(event.type),
  },
  {
    id: 'sources-earlier',
    types: 'any',
    refuses: '`sources` that are not ranges `[start, end]` of earlier events',
    breaks: (_, event) => event.sources !== undefined && !areEarlier(event.sources, event.seq),
  },
  {
    id: 'data-shape',
    types: coreEventTypes,
    refuses: '`data` of a core type that is not an object',
    breaks: (_, event) => !isRecord(event.data),
  },
]

/** Requests, chunks and records. */
const RECORD_RULES: readonly GrammarRule[] = [
  {
    id: 'request-header-shape',
    types: ['request/header'],
    refuses: 'a `request/header` without a `model`',
    breaks: (_, __, data) => !isString(data.model),
  },
  {
    id: 'attempt-number',
    types: ['request/sent'],
    refuses: 'attempt numbers that are not 1, 2, 3, ... in each step',
    breaks: ({ turns }, _, data) => data.attempt !== turns.attempt + 1,
  },
  {
    id: 'chunk-shape',
    types: ['assistant/chunk'],
    refuses: 'a chunk without a kind, or one of text or reasoning without its `index` and `text`',
    breaks: (_, __, { kind, index, text }) =>
      !isString(kind) || ((kind === 'text' || kind === 'reasoning') && !(isSeq(index) && isString(text))),
  },
  {
    id: 'compaction-in-compaction',
    types: ['compaction/start'],
    refuses: 'a compaction inside a compaction',
    breaks: ({ turns }) => turns.compaction !== undefined,
  },
  {
    id: 'compaction-end-without-start',
    types: ['compaction/end'],
    refuses: 'the end of a compaction where none is open',
    breaks: ({ turns }) => turns.compaction === undefined,
  },
  {
    id: 'title-shape',
    types: ['session/title'],
    refuses: 'a title that is not a string',
    breaks: (_, __, data) => !isString(data.title),
  },
  {
    id: 'labels-shape',
    types: ['session/labels'],
    refuses: 'labels that are not an object of strings',
    breaks: (_, __, data) => !isLabels(data.labels),
  },
]

/** Every rule, in the order in which an event is checked: shapes first, since later rules rely on them. */
export const GRAMMAR_RULES: readonly GrammarRule[] = [
  ...ENVELOPE_RULES,
  ...TURN_RULES,
  ...PLACE_RULES,
  ...SURFACE_RULES,
  ...CALL_RULES,
  ...RECORD_RULES,
]

function areEarlier(sources: unknown, seq: number): boolean {
  return Array.isArray(sources) && sources.every((range) => isRange(range) && range[0] <= range[1] && range[1] < seq)
}
