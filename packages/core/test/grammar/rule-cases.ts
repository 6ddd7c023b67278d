// One row a case: a log that is fine, the event that comes next, and the rule that refuses it.
import type { AnySessionEvent } from '../../src/event/event.ts'
import { log } from '../projection/log.ts'

type Row = readonly [type: string, data: unknown, options?: object]

export interface RefusedCase {
  readonly rule: string
  readonly title: string
  readonly before: readonly AnySessionEvent[]
  readonly event: AnySessionEvent
}

export interface AcceptedCase {
  readonly title: string
  readonly events: readonly AnySessionEvent[]
}

const place = { turn: 1, step: 1 }
const message = { role: 'x', content: 'y' }
const ask = (...ids: readonly string[]): { toolCalls: unknown[]; message: unknown } => ({
  message,
  toolCalls: ids.map((callId) => ({ callId, name: 't', arguments: {} })),
})

const TURN: Row = ['turn/start', { turn: 1 }]
const STEP: Row = ['step/start', place]
const IN_STEP = [TURN, STEP]
const ASKED = [...IN_STEP, ['assistant/message', { ...place, ...ask('a', 'b') }] as Row]
const BEGUN = [...ASKED, ['tool/call', { ...place, callId: 'a', name: 't', arguments: {} }] as Row]
const ANSWERED = [...IN_STEP, ['assistant/message', { ...place, ...ask() }] as Row]
const LOOSE_ASK = ['assistant/message', ask('a')] as Row
const USER: Row = ['user/message', { message }]
const result = (callId: unknown): Row => ['tool/result', { ...place, callId, message }]

function refused(rule: string, title: string, before: readonly Row[], next: Row): RefusedCase {
  const events = log(...before, next)
  const event = events.pop()
  if (event === undefined) throw new Error('a case needs an event')
  return { rule, title, before: events, event }
}

export const REFUSED: readonly RefusedCase[] = [
  refused(
    'surface-on-messages-only',
    'a log-only event',
    [USER],
    ['todo/write', { todos: [] }, { surface: { replace: [0, 0] } }],
  ),
  refused('surface-on-messages-only', 'an unknown type', [USER], ['acme/note', {}, { surface: { replace: [0, 0] } }]),
  refused('sources-earlier', 'itself', [USER], ['user/message', { message }, { sources: [[0, 1]] }]),
  refused('sources-earlier', 'backwards', [USER, USER], ['user/message', { message }, { sources: [[1, 0]] }]),
  refused('sources-earlier', 'a fraction', [USER], ['user/message', { message }, { sources: [[0, 0.5]] }]),
  refused('sources-earlier', 'before the log', [USER], ['user/message', { message }, { sources: [[-1, 0]] }]),
  refused('sources-earlier', 'no list', [USER], ['acme/note', {}, { sources: 3 }]),
  refused('sources-earlier', 'null', [USER], ['acme/note', {}, { sources: null }]),
  refused('sources-earlier', 'three bounds', [USER], ['acme/note', {}, { sources: [[0, 0, 0]] }]),
  refused('data-shape', 'null', [], ['user/message', null]),
  refused('data-shape', 'a list', [], ['session/title', []]),
  refused('data-shape', 'a string', IN_STEP, ['assistant/chunk', 'text']),
  refused('data-shape', 'absent', [], ['turn/start', undefined]),

  refused('turn-in-turn', 'while one is open', [TURN], ['turn/start', { turn: 2 }]),
  refused('turn-number', 'from 0', [], ['turn/start', { turn: 0 }]),
  refused('turn-number', 'from 2', [], ['turn/start', { turn: 2 }]),
  refused('turn-number', 'as text', [], ['turn/start', { turn: '1' }]),
  refused('turn-number', 'again', [TURN, ['turn/end', { turn: 1, reason: { kind: 'completed' } }]], TURN),
  refused('turn-end-without-turn', 'none open', [], ['turn/end', { turn: 1, reason: { kind: 'completed' } }]),
  refused('turn-end-without-turn', 'another', [TURN], ['turn/end', { turn: 2, reason: { kind: 'completed' } }]),
  refused('turn-end-open-step', 'in a step', IN_STEP, ['turn/end', { turn: 1, reason: { kind: 'completed' } }]),
  refused('turn-end-reason', 'none', [TURN], ['turn/end', { turn: 1 }]),
  refused('turn-end-reason', 'unknown', [TURN], ['turn/end', { turn: 1, reason: { kind: 'bored' } }]),
  refused('turn-end-reason', 'a word', [TURN], ['turn/end', { turn: 1, reason: 'completed' }]),
  refused('step-outside-turn', 'start', [], STEP),
  refused('step-outside-turn', 'start in another', [TURN], ['step/start', { turn: 2, step: 1 }]),
  refused('step-outside-turn', 'end in another', IN_STEP, ['step/end', { turn: 2, step: 1 }]),
  refused('step-in-step', 'while one is open', IN_STEP, ['step/start', { turn: 1, step: 2 }]),
  refused('step-number', 'from 2', [TURN], ['step/start', { turn: 1, step: 2 }]),
  refused('step-number', 'again', [...IN_STEP, ['step/end', place]], STEP),
  refused(
    'step-number',
    'going on from the turn before',
    [
      ...IN_STEP,
      ['step/end', place],
      ['turn/end', { turn: 1, reason: { kind: 'failed', error: {} } }],
      ['turn/start', { turn: 2 }],
    ],
    ['step/start', { turn: 2, step: 2 }],
  ),
  refused('step-end-without-step', 'none open', [TURN], ['step/end', place]),
  refused('step-end-without-step', 'another', IN_STEP, ['step/end', { turn: 1, step: 2 }]),
  refused('boundary-open-calls', 'turn/start', [LOOSE_ASK], TURN),
  refused(
    'boundary-open-calls',
    'turn/end',
    [TURN, ['assistant/message', { turn: 1, ...ask('a') }]],
    ['turn/end', { turn: 1, reason: { kind: 'completed' } }],
  ),
  refused('boundary-open-calls', 'step/start', [TURN, ['assistant/message', { turn: 1, ...ask('a') }]], STEP),
  refused('boundary-open-calls', 'step/end', ASKED, ['step/end', place]),

  refused('place-exact', 'an answer without its step', IN_STEP, ['assistant/message', { turn: 1, ...ask() }]),
  refused('place-exact', 'an answer in no turn that names one', [], ['assistant/message', { turn: 1, ...ask() }]),
  refused('place-exact', 'a null turn', [], ['assistant/message', { turn: null, ...ask() }]),
  refused('place-exact', 'a call', ASKED, ['tool/call', { callId: 'a', name: 't', arguments: {} }]),
  refused('place-exact', 'an execution', BEGUN, ['tool/execution', { turn: 1, callId: 'a', state: 'started' }]),
  refused('place-exact', 'a result', ASKED, ['tool/result', { ...place, step: 2, callId: 'a', message }]),
  refused('place-exact', 'a replacing answer', ANSWERED, [
    'assistant/message',
    { turn: 1, ...ask() },
    { surface: { replace: [2, 2] } },
  ]),
  refused('place-user-message', 'no turn', [TURN], USER),
  refused('place-user-message', 'another turn', [], ['user/message', { turn: 1, message }]),
  refused('place-user-message', 'another step', IN_STEP, ['user/message', { turn: 1, step: 2, message }]),
  refused('place-loose', 'another turn', [TURN], ['todo/write', { turn: 2, todos: [] }]),
  refused('place-loose', 'a step where none is open', [TURN], ['request/context', { turn: 1, step: 1 }]),
  refused('outside-step', 'a chunk', [TURN], ['assistant/chunk', { ...place, kind: 'text', index: 0, text: 'x' }]),
  refused('outside-step', 'a chunk of another', IN_STEP, [
    'assistant/chunk',
    { turn: 1, step: 2, kind: 'text', index: 0, text: 'x' },
  ]),
  refused('outside-step', 'a request', [TURN], ['request/sent', { ...place, attempt: 1 }]),
  refused('outside-step', 'a request of none', [], ['request/sent', { attempt: 1 }]),

  refused('message-shape', 'a user message', [], ['user/message', {}]),
  refused('message-shape', 'an answer', [], ['assistant/message', { toolCalls: [] }]),
  refused('surface-shape', 'null', [USER], ['user/message', { message }, { surface: null }]),
  refused('surface-shape', 'a word', [USER], ['user/message', { message }, { surface: 'append' }]),
  refused('surface-shape', 'no range', [USER], ['user/message', { message }, { surface: { replace: 0 } }]),
  refused(
    'surface-shape',
    'more than a range',
    [USER],
    ['user/message', { message }, { surface: { replace: [0, 0], also: 1 } }],
  ),
  refused(
    'replace-live-run',
    'not live',
    [USER, ['todo/write', { todos: [] }]],
    ['user/message', { message }, { surface: { replace: [1, 1] } }],
  ),
  refused('replace-live-run', 'itself', [USER], ['user/message', { message }, { surface: { replace: [1, 1] } }]),
  refused(
    'replace-live-run',
    'backwards',
    [USER, USER],
    ['user/message', { message }, { surface: { replace: [1, 0] } }],
  ),
  refused(
    'replace-live-run',
    'replaced before',
    [USER, ['user/message', { message }, { surface: { replace: [0, 0] } }]],
    ['user/message', { message }, { surface: { replace: [0, 0] } }],
  ),
  refused('remove-live-run', 'not live', [], ['surface/remove', { start: 0, end: 0 }]),
  refused(
    'remove-live-run',
    'removed before',
    [USER, ['surface/remove', { start: 0, end: 0 }]],
    ['surface/remove', { start: 0, end: 0 }],
  ),
  refused('remove-live-run', 'half a range', [USER], ['surface/remove', { start: 0 }]),
  refused('user-message-open-calls', 'in a step', ASKED, ['user/message', { turn: 1, message }]),
  refused('user-message-open-calls', 'outside', [LOOSE_ASK], USER),

  refused('tool-calls-shape', 'none', [], ['assistant/message', { message }]),
  refused('tool-calls-shape', 'no list', [], ['assistant/message', { message, toolCalls: { length: 1 } }]),
  refused('tool-calls-shape', 'null inside', [], ['assistant/message', { message, toolCalls: [null] }]),
  refused(
    'tool-calls-shape',
    'a number as id',
    [],
    ['assistant/message', { message, toolCalls: [{ callId: 1, name: 't', arguments: {} }] }],
  ),
  refused(
    'tool-calls-shape',
    'no arguments',
    [],
    ['assistant/message', { message, toolCalls: [{ callId: 'a', name: 't' }] }],
  ),
  refused('answer-open-calls', 'in a step', ASKED, ['assistant/message', { ...place, ...ask() }]),
  refused('answer-open-calls', 'outside', [LOOSE_ASK], ['assistant/message', ask('b')]),
  refused('call-id-twice', 'in one answer', IN_STEP, ['assistant/message', { ...place, ...ask('a', 'a') }]),
  refused('call-id-twice', 'in one answer outside', [], ['assistant/message', ask('a', 'a')]),
  refused(
    'call-id-twice',
    'in the second answer of a step',
    [...ASKED, result('a'), result('b')],
    ['assistant/message', { ...place, ...ask('b') }],
  ),
  refused('call-shape', 'no id', ASKED, ['tool/call', { ...place, name: 't', arguments: {} }]),
  refused('call-shape', 'an unknown effect', ASKED, [
    'tool/call',
    { ...place, callId: 'a', name: 't', arguments: {}, effect: 'harmless' },
  ]),
  refused('call-shape', 'a number as key', ASKED, [
    'tool/call',
    { ...place, callId: 'a', name: 't', arguments: {}, idempotencyKey: 7 },
  ]),
  refused('call-not-open', 'not asked for', ASKED, ['tool/call', { ...place, callId: 'c', name: 't', arguments: {} }]),
  refused(
    'call-not-open',
    'answered',
    [...ASKED, result('a')],
    ['tool/call', { ...place, callId: 'a', name: 't', arguments: {} }],
  ),
  refused('call-not-open', 'a name of Object', ASKED, [
    'tool/call',
    { ...place, callId: 'constructor', name: 't', arguments: {} },
  ]),
  refused('call-twice', 'begun', BEGUN, ['tool/call', { ...place, callId: 'a', name: 't', arguments: {} }]),
  refused('execution-shape', 'no state', BEGUN, ['tool/execution', { ...place, callId: 'a' }]),
  refused('execution-shape', 'an unknown state', BEGUN, ['tool/execution', { ...place, callId: 'a', state: 'lost' }]),
  refused('execution-shape', 'a number as id', BEGUN, [
    'tool/execution',
    { ...place, callId: 'a', state: 'external', externalId: 1 },
  ]),
  refused('execution-before-call', 'asked only', BEGUN, [
    'tool/execution',
    { ...place, callId: 'b', state: 'started' },
  ]),
  refused('execution-before-call', 'unheard of', BEGUN, [
    'tool/execution',
    { ...place, callId: 'c', state: 'started' },
  ]),
  refused('result-shape', 'no id', ASKED, result(undefined)),
  refused(
    'result-shape',
    'no id, replacing',
    [...ASKED, result('a')],
    ['tool/result', { ...place, message }, { surface: { replace: [3, 3] } }],
  ),
  refused('result-not-open', 'not asked for', ASKED, result('c')),
  refused('result-not-open', 'answered', [...ASKED, result('a')], result('a')),
  refused(
    'result-not-open',
    'of the answer before, outside',
    [
      ['assistant/message', ask('a')],
      ['tool/result', { callId: 'a', message }],
      ['assistant/message', ask('b')],
    ],
    ['tool/result', { callId: 'a', message }],
  ),

  refused('request-header-shape', 'none', [], ['request/header', { system: 'x' }]),
  refused('attempt-number', 'from 0', IN_STEP, ['request/sent', { ...place, attempt: 0 }]),
  refused(
    'attempt-number',
    'again',
    [...IN_STEP, ['request/sent', { ...place, attempt: 1 }]],
    ['request/sent', { ...place, attempt: 1 }],
  ),
  refused('chunk-shape', 'no kind', IN_STEP, ['assistant/chunk', { ...place, text: 'x' }]),
  refused('chunk-shape', 'no index', IN_STEP, ['assistant/chunk', { ...place, kind: 'text', text: 'x' }]),
  refused('chunk-shape', 'no text', IN_STEP, [
    'assistant/chunk',
    { ...place, kind: 'reasoning', index: 0, text: null },
  ]),
  refused('compaction-in-compaction', 'twice', [['compaction/start', {}]], ['compaction/start', {}]),
  refused('compaction-end-without-start', 'at once', [], ['compaction/end', { outcome: 'completed' }]),
  refused('title-shape', 'a number', [], ['session/title', { title: 3 }]),
  refused('labels-shape', 'none', [], ['session/labels', {}]),
  refused('labels-shape', 'a number', [], ['session/labels', { labels: { a: 1 } }]),
]

const replaceWith = (type: string, data: object, start: number, end: number): Row => [
  type,
  { ...data, message },
  { surface: { replace: [start, end] } },
]

export const ACCEPTED: readonly AcceptedCase[] = [
  { title: 'nothing but a user message', events: log(USER) },
  {
    title: 'messages, calls and headers outside a turn',
    events: log(
      ['request/header', { model: 'm' }],
      USER,
      LOOSE_ASK,
      ['tool/call', { callId: 'a', name: 't', arguments: {} }],
      ['tool/result', { callId: 'a', message }],
    ),
  },
  {
    title: 'the same call id in each answer outside a step',
    events: log(LOOSE_ASK, ['tool/result', { callId: 'a', message }], LOOSE_ASK, [
      'tool/result',
      { callId: 'a', message },
    ]),
  },
  {
    title: 'messages and calls in a turn, outside a step',
    events: log(
      TURN,
      ['user/message', { turn: 1, message }],
      ['assistant/message', { turn: 1, ...ask('a') }],
      ['tool/result', { turn: 1, callId: 'a', message }],
      STEP,
    ),
  },
  {
    title: 'several requests in one step, with a compaction between',
    events: log(
      ...IN_STEP,
      ['request/sent', { ...place, attempt: 1 }],
      ['compaction/start', { ...place }],
      ['compaction/end', { ...place, outcome: 'completed' }],
      ['request/sent', { ...place, attempt: 2 }],
      ['assistant/message', { ...place, ...ask() }],
    ),
  },
  {
    title: 'chunks before any request',
    events: log(...IN_STEP, ['assistant/chunk', { ...place, kind: 'other', value: null }]),
  },
  {
    title: 'a second answer in a step whose calls are all answered',
    events: log(...ASKED, result('b'), result('a'), ['assistant/message', { ...place, ...ask('c') }], result('c'), [
      'step/end',
      place,
    ]),
  },
  { title: 'a result without a tool/call', events: log(...ASKED, result('a')) },
  { title: 'calls answered in any order, one begun', events: log(...BEGUN, result('b'), result('a')) },
  {
    title: 'executions of a begun call, its result before them',
    events: log(
      ...BEGUN,
      ['tool/execution', { ...place, callId: 'a', state: 'external', externalId: 'e' }],
      result('a'),
      ['tool/execution', { ...place, callId: 'a', state: 'committed' }],
    ),
  },
  {
    title: 'the same call id in another step',
    events: log(
      ...ASKED,
      result('a'),
      result('b'),
      ['step/end', place],
      ['step/start', { turn: 1, step: 2 }],
      ['assistant/message', { turn: 1, step: 2, ...ask('a') }],
    ),
  },
  {
    title: 'turns and steps that count on',
    events: log(
      TURN,
      STEP,
      ['step/end', place],
      ['step/start', { turn: 1, step: 2 }],
      ['step/end', { turn: 1, step: 2 }],
      ['turn/end', { turn: 1, reason: { kind: 'max-tokens' } }],
      ['turn/start', { turn: 2 }],
      ['step/start', { turn: 2, step: 1 }],
    ),
  },
  {
    title: 'every reason to end',
    events: log(
      ...['completed', 'failed', 'cancelled', 'max-tokens', 'interrupted'].flatMap((kind, index): Row[] => [
        ['turn/start', { turn: index + 1 }],
        ['turn/end', { turn: index + 1, reason: { kind } }],
      ]),
    ),
  },
  {
    title: 'extension events anywhere, whatever their data',
    events: log(
      ['acme/a', null],
      TURN,
      ['acme/a', []],
      STEP,
      ['assistant/message', { ...place, ...ask('a') }],
      ['acme/a', { turn: 7, step: 'x' }, { sources: [[0, 3]] }],
    ),
  },
  {
    title: 'replacements while calls are open',
    events: log(
      ...[
        ...IN_STEP,
        ['user/message', { turn: 1, message }] as Row,
        ['assistant/message', { ...place, ...ask('a') }] as Row,
        replaceWith('user/message', { turn: 1 }, 2, 2),
        replaceWith('assistant/message', { ...place, toolCalls: [] }, 3, 3),
        result('a'),
      ],
    ),
  },
  {
    title: 'a replaced result',
    events: log(...ASKED, result('a'), replaceWith('tool/result', { ...place, callId: 'a' }, 3, 3), result('b')),
  },
  {
    title: 'a run whose first seq is the larger one, after a replacement',
    events: log(USER, USER, USER, replaceWith('user/message', {}, 0, 1), replaceWith('user/message', {}, 3, 2)),
  },
  {
    title: 'a removed run, then what is left of it',
    events: log(USER, USER, USER, ['surface/remove', { start: 1, end: 1 }], ['surface/remove', { start: 0, end: 2 }]),
  },
  {
    title: 'a compaction over the end of a turn',
    events: log(
      ['compaction/start', {}],
      TURN,
      ['compaction/end', { turn: 1, outcome: 'failed' }],
      ['compaction/start', { turn: 1 }],
      ['turn/end', { turn: 1, reason: { kind: 'completed' } }],
      ['compaction/end', { outcome: 'completed' }],
    ),
  },
  {
    title: 'names of Object as call ids',
    events: log(
      ...IN_STEP,
      ['assistant/message', { ...place, ...ask('__proto__', 'constructor') }],
      result('constructor'),
      result('__proto__'),
    ),
  },
  {
    title: 'records of the session',
    events: log(
      ['session/resumed', {}],
      ['session/title', { title: '' }],
      ['session/labels', { labels: {} }],
      ['session/forked', { parent: 'p', at: -1 }],
      ['request/context', {}],
    ),
  },
]
