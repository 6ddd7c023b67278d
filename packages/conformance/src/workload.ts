import type { EventInput, ModelContext } from '@session-persistence/core'

/** A message of the `plain` format. */
export function plainMessage(role: 'user' | 'assistant' | 'tool', content: string): unknown {
  return { role, content }
}

/** The request environment that the workloads record. */
export const REQUEST_HEADER = { model: 'model-1', config: { temperature: 0 }, system: 'Be brief.', tools: [] } as const

/** One whole turn of two steps, with chunks, one tool call and its result: {@link EVENTS_PER_TURN} events. */
export function turnEvents(turn: number): readonly EventInput[] {
  const first = { turn, step: 1 }
  const second = { turn, step: 2 }
  const call = { callId: `call-${turn}`, name: 'look', arguments: { path: `file-${turn}.txt` } }
  return [
    { type: 'turn/start', data: { turn } },
    { type: 'user/message', data: { turn, message: plainMessage('user', `question ${turn}`) } },
    { type: 'step/start', data: first },
    { type: 'assistant/chunk', data: { ...first, kind: 'text', index: 0, text: `I look at file ${turn}` } },
    {
      type: 'assistant/message',
      data: { ...first, message: plainMessage('assistant', `I look at file ${turn}`), toolCalls: [call] },
    },
    { type: 'tool/call', data: { ...first, ...call, effect: 'read-only' } },
    { type: 'tool/result', data: { ...first, callId: call.callId, message: plainMessage('tool', `result ${turn}`) } },
    { type: 'step/end', data: first },
    { type: 'step/start', data: second },
    {
      type: 'assistant/message',
      data: { ...second, message: plainMessage('assistant', `answer ${turn}`), toolCalls: [] },
    },
    { type: 'step/end', data: second },
    { type: 'turn/end', data: { turn, reason: { kind: 'completed' } } },
  ]
}

export const EVENTS_PER_TURN = 12

/** Turns 1 to `turns`. */
export function conversation(turns: number): readonly EventInput[] {
  return Array.from({ length: turns }, (_, index) => turnEvents(index + 1)).flat()
}

/** So many messages of so many characters. */
export function filling(events: number, characters: number): readonly EventInput[] {
  return Array.from({ length: events }, (_, index) => ({
    type: 'user/message' as const,
    data: { message: plainMessage('user', `${index} `.padEnd(characters, 'x')) },
  }))
}

const walkThroughCall = { callId: 'c1', name: 'read', arguments: { path: 'a.txt' } } as const

/** The first walk-through: everything up to a tool's result, and then the process dies. */
export const INTERRUPTED_AFTER_RESULT: readonly EventInput[] = [
  { type: 'request/header', data: REQUEST_HEADER },
  { type: 'turn/start', data: { turn: 1 } },
  { type: 'user/message', data: { turn: 1, message: plainMessage('user', 'What is in a.txt?') } },
  {
    type: 'assistant/message',
    data: { turn: 1, message: plainMessage('assistant', 'I read it.'), toolCalls: [walkThroughCall] },
  },
  { type: 'tool/call', data: { turn: 1, ...walkThroughCall } },
  { type: 'tool/result', data: { turn: 1, callId: 'c1', message: plainMessage('tool', 'forty-two') } },
]

/** What the model sees after {@link INTERRUPTED_AFTER_RESULT}, closed or not. */
export const INTERRUPTED_CONTEXT: ModelContext = {
  ...REQUEST_HEADER,
  messages: [
    plainMessage('user', 'What is in a.txt?'),
    plainMessage('assistant', 'I read it.'),
    plainMessage('tool', 'forty-two'),
  ],
}

/** A turn in its first step with one call begun and nothing known of its outcome. */
export const CALL_ABOUT_TO_BEGIN: readonly EventInput[] = [
  { type: 'turn/start', data: { turn: 1 } },
  { type: 'user/message', data: { turn: 1, message: plainMessage('user', 'Write it.') } },
  { type: 'step/start', data: { turn: 1, step: 1 } },
  {
    type: 'assistant/message',
    data: {
      turn: 1,
      step: 1,
      message: plainMessage('assistant', 'I write it.'),
      toolCalls: [{ callId: 'w1', name: 'write', arguments: { path: 'b.txt' } }],
    },
  },
]
