/** The rules of turns and steps, and of where an event says that it belongs. */
import type { GrammarRule } from './grammar-rule.ts'
import { hasOpenCalls } from './grammar-rule.ts'
import { isRecord } from './json-shape.ts'

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

export const TURN_RULES: readonly GrammarRule[] = [
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
]

export const PLACE_RULES: readonly GrammarRule[] = [
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
]
