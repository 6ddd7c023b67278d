/**
 * The grammar of a log as one table. Stored data is never validated again by schemas; the rules therefore also check
 * the shapes that projections rely on, so that a hostile log is refused instead of crashing a fold.
 * `docs/grammar.md` is made from this table.
 */
import type { AnySessionEvent, SeqRange } from './event.ts'
import type { Fields } from './json-shape.ts'
import { isLabels, isOptional, isRecord, isSeq, isString, isSurfaceType, isToolEffect } from './json-shape.ts'
import type { LiveSurface } from './live-run.ts'
import { liveRun } from './live-run.ts'
import type { CoreEventType } from './vocabulary-table.ts'
import { coreEventTypes } from './vocabulary-table.ts'

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

const MESSAGES = ['user/message', 'assistant/message', 'tool/result'] as const
const STEP_BOUNDARIES = ['step/start', 'step/end'] as const
const EXACTLY_PLACED = ['assistant/message', 'tool/call', 'tool/execution', 'tool/result'] as const
const LOOSELY_PLACED = [
  'surface/remove',
  'request/header',
  'request/context',
  'compaction/start',
  'compaction/end',
  'todo/write',
] as const
const REASONS = new Set<unknown>(['completed', 'failed', 'cancelled', 'max-tokens', 'interrupted'])
const EXECUTION_STATES = new Set<unknown>(['started', 'external', 'committed', 'failed'])

const hasOpenCalls = ({ turns }: GrammarState): boolean => turns.calls.openCount > 0
const call = (state: GrammarState, data: Fields) => state.turns.calls.get(String(data.callId))
const isAppended = (event: AnySessionEvent): boolean => event.surface === undefined
const isOpenCall = (state: GrammarState, data: Fields): boolean => {
  const record = call(state, data)
  return record !== undefined && record.answered === undefined
}

/** Every rule, in the order in which an event is checked: shapes first, since later rules rely on them. */
export const GRAMMAR_RULES: readonly GrammarRule[] = [
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

  // Turns and steps.
  {
    id: 'turn-in-turn',
    types: ['turn/start'],
    refuses: 'a turn inside a turn',
    breaks: ({ turns }) => turns.openTurn !== undefined,
  },
  {
    id: 'turn-number',
    types: ['turn/start'],
    refuses: 'turn numbers that are not 1, 2, 3, ...',
    breaks: ({ turns }, _, data) => data.turn !== turns.turns + 1,
  },
  {
    id: 'turn-end-without-turn',
    types: ['turn/end'],
    refuses: 'the end of a turn that is not the open one',
    breaks: ({ turns }, _, data) => turns.openTurn === undefined || data.turn !== turns.openTurn,
  },
  {
    id: 'turn-end-open-step',
    types: ['turn/end'],
    refuses: '`turn/end` with an open step',
    breaks: ({ turns }) => turns.openStep !== undefined,
  },
  {
    id: 'turn-end-reason',
    types: ['turn/end'],
    refuses: 'a `turn/end` without a `reason` of a known kind',
    breaks: (_, __, { reason }) => !isRecord(reason) || !REASONS.has(reason.kind),
  },
  {
    id: 'step-outside-turn',
    types: STEP_BOUNDARIES,
    refuses: 'a step outside its turn',
    breaks: ({ turns }, _, data) => turns.openTurn === undefined || data.turn !== turns.openTurn,
  },
  {
    id: 'step-in-step',
    types: ['step/start'],
    refuses: 'a step inside a step',
    breaks: ({ turns }) => turns.openStep !== undefined,
  },
  {
    id: 'step-number',
    types: ['step/start'],
    refuses: 'step numbers that do not start at 1 in each turn and go on by 1',
    breaks: ({ turns }, _, data) => data.step !== turns.steps + 1,
  },
  {
    id: 'step-end-without-step',
    types: ['step/end'],
    refuses: 'the end of a step that is not the open one',
    breaks: ({ turns }, _, data) => turns.openStep === undefined || data.step !== turns.openStep,
  },
  {
    id: 'boundary-open-calls',
    types: ['turn/start', 'turn/end', ...STEP_BOUNDARIES],
    refuses: 'the start or end of a turn or step while calls are open',
    breaks: hasOpenCalls,
  },

  // Where an event says that it belongs.
  {
    id: 'place-exact',
    types: EXACTLY_PLACED,
    refuses: 'an answer, a call or a result that does not carry exactly the open turn and step',
    breaks: ({ turns }, _, data) => data.turn !== turns.openTurn || data.step !== turns.openStep,
  },
  {
    id: 'place-user-message',
    types: ['user/message'],
    refuses: 'a `user/message` without the open turn, or with a step that is not the open one',
    breaks: ({ turns }, _, data) =>
      data.turn !== turns.openTurn || (data.step !== undefined && data.step !== turns.openStep),
  },
  {
    id: 'place-loose',
    types: LOOSELY_PLACED,
    refuses: 'a turn or step, where one is given, that is not the open one',
    breaks: ({ turns }, _, data) =>
      (data.turn !== undefined && data.turn !== turns.openTurn) ||
      (data.step !== undefined && data.step !== turns.openStep),
  },
  {
    id: 'outside-step',
    types: ['request/sent', 'assistant/chunk'],
    refuses: 'a chunk or `request/sent` outside its step',
    breaks: ({ turns }, _, data) =>
      turns.openStep === undefined || data.turn !== turns.openTurn || data.step !== turns.openStep,
  },

  // The surface.
  {
    id: 'message-shape',
    types: MESSAGES,
    refuses: 'a message event without `message`',
    breaks: (_, __, data) => data.message === undefined,
  },
  {
    id: 'surface-shape',
    types: MESSAGES,
    refuses: 'a `surface` option that is not exactly `{ replace: [start, end] }`',
    breaks: (_, { surface }) => surface !== undefined && !isReplacement(surface),
  },
  {
    id: 'replace-live-run',
    types: MESSAGES,
    refuses: 'a replaced range that is not a run of live surface events',
    breaks: ({ surface }, event) => event.surface !== undefined && !isLiveRun(surface, event.surface.replace),
  },
  {
    id: 'remove-live-run',
    types: ['surface/remove'],
    refuses: 'a removed range that is not a run of live surface events',
    breaks: ({ surface }, _, data) => !isLiveRun(surface, [data.start, data.end]),
  },
  {
    id: 'user-message-open-calls',
    types: ['user/message'],
    refuses: 'an appended `user/message` while calls are open',
    breaks: (state, event) => isAppended(event) && hasOpenCalls(state),
  },

  // Answers and their calls.
  {
    id: 'tool-calls-shape',
    types: ['assistant/message'],
    refuses: 'an answer whose `toolCalls` are not a list of `{ callId, name, arguments }`',
    breaks: (_, __, { toolCalls }) => !Array.isArray(toolCalls) || !toolCalls.every(isToolCall),
  },
  {
    id: 'answer-open-calls',
    types: ['assistant/message'],
    refuses: 'a second answer while calls are open',
    breaks: (state, event) => isAppended(event) && hasOpenCalls(state),
  },
  {
    id: 'call-id-twice',
    types: ['assistant/message'],
    refuses: 'a `callId` twice in one step',
    breaks: ({ turns }, event, { toolCalls }) => isAppended(event) && hasRepeatedId(turns, toolCalls),
  },
  {
    id: 'call-shape',
    types: ['tool/call'],
    refuses: 'a `tool/call` whose `callId`, `name`, `arguments`, `effect` or `idempotencyKey` is not of its form',
    breaks: (_, __, data) =>
      !isToolCall(data) || !isOptional(data.effect, isToolEffect) || !isOptional(data.idempotencyKey, isString),
  },
  {
    id: 'call-not-open',
    types: ['tool/call'],
    refuses: 'a `tool/call` that no answer asked for, or whose result is there already',
    breaks: (state, _, data) => !isOpenCall(state, data),
  },
  {
    id: 'call-twice',
    types: ['tool/call'],
    refuses: 'a second `tool/call` for one call',
    breaks: (state, _, data) => call(state, data)?.begunAt !== undefined,
  },
  {
    id: 'execution-shape',
    types: ['tool/execution'],
    refuses: 'a `tool/execution` whose `callId`, `state` or `externalId` is not of its form',
    breaks: (_, __, data) =>
      !isString(data.callId) || !EXECUTION_STATES.has(data.state) || !isOptional(data.externalId, isString),
  },
  {
    id: 'execution-before-call',
    types: ['tool/execution'],
    refuses: '`tool/execution` before its `tool/call`',
    breaks: (state, _, data) => call(state, data)?.begunAt === undefined,
  },
  {
    id: 'result-shape',
    types: ['tool/result'],
    refuses: 'a `tool/result` without a `callId`',
    breaks: (_, __, data) => !isString(data.callId),
  },
  {
    id: 'result-not-open',
    types: ['tool/result'],
    refuses: 'an appended `tool/result` for a call that is not open',
    breaks: (state, event, data) => isAppended(event) && !isOpenCall(state, data),
  },

  // Requests, chunks and records.
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

function areEarlier(sources: unknown, seq: number): boolean {
  return Array.isArray(sources) && sources.every((range) => isRange(range) && range[0] <= range[1] && range[1] < seq)
}

function isRange(value: unknown): value is SeqRange {
  return Array.isArray(value) && value.length === 2 && value.every(isSeq)
}

/** Exactly: a decoder of envelopes refuses any other key. */
function isReplacement(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 1 && isRange(value.replace)
}

function isLiveRun(surface: LiveSurface, range: unknown): boolean {
  return isRange(range) && liveRun(surface, range) !== undefined
}

function isToolCall(value: unknown): boolean {
  return isRecord(value) && isString(value.callId) && isString(value.name) && value.arguments !== undefined
}

function hasRepeatedId(turns: OpenParts, toolCalls: unknown): boolean {
  const seen = new Set<string>()
  for (const { callId } of toolCalls as readonly { readonly callId: string }[]) {
    // Outside a step each answer is its own scope.
    if (seen.has(callId) || (turns.openStep !== undefined && turns.calls.get(callId) !== undefined)) return true
    seen.add(callId)
  }
  return false
}
