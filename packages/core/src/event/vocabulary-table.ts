/**
 * The core vocabulary as data: the one source of the run-time validation, of the JSON Schemas and of docs/events.md.
 * The static types of the same facts are in vocabulary.ts; a test holds the two together.
 *
 * Fields that are not listed are accepted and preserved: a newer program of the same format may add optional ones.
 */

import {
  any,
  type EventField,
  type EventShape,
  integer,
  listOf,
  may,
  must,
  oneOf,
  shape,
  string,
} from './event-field.ts'
import { callId, externalId, idempotencyKey, toolArguments, toolName } from './shared-shapes.ts'

export type EventDomain = 'boundary' | 'surface' | 'log-only'

export interface EventSpec extends EventShape {
  readonly domain: EventDomain
}

const TURN = 'Number of the turn, from 1.'
const STEP = 'Number of the step, from 1 in each turn.'
const inTurn: readonly EventField[] = [
  may('turn', integer(1), `${TURN} Absent outside a turn.`),
  may('step', integer(1), `${STEP} Absent outside a step.`),
]
const inStep: readonly EventField[] = [must('turn', integer(1), TURN), must('step', integer(1), STEP)]

const message = must('message', any, "The message, in the session's message format.")

/** Core types, in the order of the documentation. */
export type CoreEventType =
  | 'turn/start'
  | 'turn/end'
  | 'step/start'
  | 'step/end'
  | 'session/resumed'
  | 'session/forked'
  | 'user/message'
  | 'assistant/message'
  | 'tool/result'
  | 'surface/remove'
  | 'request/header'
  | 'request/sent'
  | 'request/context'
  | 'assistant/chunk'
  | 'tool/call'
  | 'tool/execution'
  | 'compaction/start'
  | 'compaction/end'
  | 'session/title'
  | 'session/labels'
  | 'todo/write'

const chunkIndex = 'Index of the block within the answer, from 0.'
const chunkText = must('text', string, 'The characters that arrived.')

export const coreVocabulary: { readonly [Type in CoreEventType]: EventSpec } = {
  'turn/start': {
    domain: 'boundary',
    description: 'A turn begins: everything from one input to the end of the work on it.',
    fields: [must('turn', integer(1), TURN), may('trigger', any, 'What started it.')],
  },
  'turn/end': {
    domain: 'boundary',
    description: 'The turn ends. No step and no call is open.',
    fields: [must('turn', integer(1), TURN), must('reason', shape('TurnEndReason'), 'Why it ended.')],
  },
  'step/start': {
    domain: 'boundary',
    description: 'A step begins: one model answer and the tools that it asks for.',
    fields: inStep,
  },
  'step/end': { domain: 'boundary', description: 'The step ends. No call is open.', fields: inStep },
  'session/resumed': {
    domain: 'boundary',
    description: 'First event of a new writer, stored together with what it writes first.',
    fields: [may('writer', string, 'Name of the writer.')],
  },
  'session/forked': {
    domain: 'boundary',
    description: 'First own event of a child; the events before it are shared with the parent.',
    fields: [
      must('parent', string, 'Id of the parent.'),
      must('at', integer(-1), 'Last seq of the parent that the child shares; -1 when it shares none.'),
      may('reason', string, 'Why the fork was made.'),
    ],
  },
  'user/message': {
    domain: 'surface',
    description: 'A message of the user role: what a person wrote, or what the harness put in.',
    fields: [...inTurn, message, may('source', shape('MessageSource'), 'Where it came from.')],
  },
  'assistant/message': {
    domain: 'surface',
    description: 'A complete answer of the model, or the kept text of one that never finished.',
    fields: [
      ...inTurn,
      message,
      must('toolCalls', listOf(shape('ToolCall')), 'The calls that the message asks for; empty when none.'),
      may('provider', string, 'Name of the provider.'),
      may('model', string, 'Name of the model that answered.'),
      may('usage', shape('Usage'), 'Token counts.'),
      may('interrupted', oneOf(true), 'The text of an answer that never finished.'),
    ],
  },
  'tool/result': {
    domain: 'surface',
    description: 'The result of one call, as the model sees it.',
    fields: [
      ...inTurn,
      callId,
      message,
      may('error', shape('ErrorInfo'), 'Present when the tool failed.'),
      may('meta', any, 'What the harness keeps beside the message.'),
      may('synthetic', shape('Synthetic'), 'Present on a result that the tool did not give.'),
    ],
  },
  'surface/remove': {
    domain: 'log-only',
    description: 'Takes live messages off the surface: a rewind in place, a reminder for one call.',
    fields: [
      ...inTurn,
      must('start', integer(0), 'Seq of the first message removed.'),
      must('end', integer(0), 'Seq of the last message removed.'),
      may('reason', string, 'Why.'),
    ],
  },
  'request/header': {
    domain: 'log-only',
    description: 'The request environment: a full snapshot, written when any of it changes.',
    fields: [
      ...inTurn,
      must('model', string, 'Name of the model.'),
      may('config', any, 'Call parameters, such as temperature.'),
      may('system', any, 'System prompt.'),
      may('tools', any, 'Tool definitions.'),
    ],
  },
  'request/sent': {
    domain: 'log-only',
    description: 'A request is about to be sent; the chunks after it belong to it. Written by `checkpoint`.',
    fields: [...inStep, must('attempt', integer(1), 'Number of the request within the step, from 1.')],
  },
  'request/context': {
    domain: 'log-only',
    description: 'Facts about the route to the model, written when they change. Other facts are free.',
    fields: [...inTurn, may('contextWindow', integer(0), 'Size of the context window, in tokens.')],
  },
  'assistant/chunk': {
    domain: 'log-only',
    description: 'One delta of the answer that is being streamed.',
    fields: inStep,
    variants: [
      {
        kinds: ['text', 'reasoning'],
        description: 'Characters of a text or reasoning block.',
        fields: [must('index', integer(0), chunkIndex), chunkText],
      },
      {
        kinds: ['tool-arguments'],
        description: "Characters of a call's arguments.",
        fields: [
          must('index', integer(0), chunkIndex),
          callId,
          may('name', string, 'Name of the tool, where this delta tells it.'),
          chunkText,
        ],
      },
      {
        kinds: ['other'],
        description: 'Anything else verbatim: signatures, usage, finish reasons.',
        fields: [may('index', integer(0), chunkIndex), must('value', any, 'As it came.')],
      },
    ],
  },
  'tool/call': {
    domain: 'log-only',
    description: 'A tool is about to run. Written by `beginCall`, durable before the tool starts.',
    fields: [
      ...inTurn,
      callId,
      toolName,
      toolArguments,
      may(
        'effect',
        oneOf('read-only', 'idempotent', 'side-effect'),
        'What running it twice would do. Absent is treated like `side-effect`.',
      ),
      idempotencyKey,
    ],
  },
  'tool/execution': {
    domain: 'log-only',
    description: 'How far a running call has come, as far as another system knows of it.',
    fields: [
      ...inTurn,
      callId,
      must('state', oneOf('started', 'external', 'committed', 'failed'), 'The state reached.'),
      externalId,
    ],
  },
  'compaction/start': {
    domain: 'log-only',
    description: 'A compaction of the surface begins.',
    fields: [
      ...inTurn,
      may('compactionId', string, 'Tells compactions apart.'),
      may('trigger', string, 'What asked for it.'),
    ],
  },
  'compaction/end': {
    domain: 'log-only',
    description: 'The compaction ended.',
    fields: [
      ...inTurn,
      may('compactionId', string, 'As in its start.'),
      must('outcome', oneOf('completed', 'failed', 'interrupted'), 'How it ended.'),
      may('error', shape('ErrorInfo'), 'Present when it failed.'),
    ],
  },
  'session/title': {
    domain: 'log-only',
    description: 'The title of the session from here on.',
    fields: [must('title', string, 'The title.'), may('source', string, 'Who gave it.')],
  },
  'session/labels': {
    domain: 'log-only',
    description: 'The labels of the session from here on.',
    fields: [
      must(
        'labels',
        { kind: 'map', values: string },
        'Labels by name. They are laid over those set before; a label can be changed, not removed.',
      ),
    ],
  },
  'todo/write': {
    domain: 'log-only',
    description: 'The to-do list as a whole, whenever it changes.',
    fields: [...inTurn, must('todos', listOf(any), 'The entries, in the form of the harness.')],
  },
}

export const coreEventTypes: readonly CoreEventType[] = Object.freeze(Object.keys(coreVocabulary) as CoreEventType[])

const typeSet: ReadonlySet<string> = new Set(coreEventTypes)

export function isCoreType(type: string): type is CoreEventType {
  return typeSet.has(type)
}

/** First parts of the core types; extension types keep out of them. */
export const coreNamespaces: ReadonlySet<string> = new Set(
  coreEventTypes.map((type) => type.slice(0, type.indexOf('/'))),
)
