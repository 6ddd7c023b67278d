/** The rules of the surface, and of answers and their calls. */
import type { GrammarRule, GrammarState, OpenParts } from './grammar-rule.ts'
import { hasOpenCalls, isAppended, isRange } from './grammar-rule.ts'
import type { Fields } from './json-shape.ts'
import { isOptional, isRecord, isString, isToolEffect } from './json-shape.ts'
import type { LiveSurface } from './live-run.ts'
import { liveRun } from './live-run.ts'

const MESSAGES = ['user/message', 'assistant/message', 'tool/result'] as const
const EXECUTION_STATES = new Set<unknown>(['started', 'external', 'committed', 'failed'])

export const SURFACE_RULES: readonly GrammarRule[] = [
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
]

export const CALL_RULES: readonly GrammarRule[] = [
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
]

const call = (state: GrammarState, data: Fields) => state.turns.calls.get(String(data.callId))
const isOpenCall = (state: GrammarState, data: Fields): boolean => {
  const record = call(state, data)
  return record !== undefined && record.answered === undefined
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
