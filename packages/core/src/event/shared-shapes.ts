/** Fields and shapes that several core events share. */
import {
  any,
  type EventField,
  type EventShape,
  type EventShapeName,
  integer,
  may,
  must,
  oneOf,
  shape,
  string,
} from './event-field.ts'

export const callId: EventField = must('callId', string, 'The id that the model gave the call.')
export const idempotencyKey: EventField = may(
  'idempotencyKey',
  string,
  'Key under which the tool recognises a repeated call.',
)
export const externalId: EventField = may(
  'externalId',
  string,
  'Id of the work in another system, by which its outcome can be asked for.',
)
export const toolName: EventField = must('name', string, 'Name of the tool.')
export const toolArguments: EventField = must('arguments', any, 'Arguments in the form of the harness.')

/** Shapes that fields share. */
export const sharedShapes: { readonly [Name in EventShapeName]: EventShape } = {
  ErrorInfo: {
    description: 'What went wrong.',
    fields: [
      may('code', string, 'A word for programs.'),
      may('message', string, 'A sentence for people.'),
      may('details', any, 'Anything else.'),
    ],
  },
  TurnEndReason: {
    description: 'Why a turn ended.',
    fields: [],
    variants: [
      { kinds: ['completed'], description: 'The model had nothing more to do.', fields: [] },
      {
        kinds: ['failed'],
        description: 'An error ended it.',
        fields: [must('error', shape('ErrorInfo'), 'The error.')],
      },
      { kinds: ['cancelled'], description: 'Somebody stopped it.', fields: [may('cause', string, 'Who or what.')] },
      { kinds: ['max-tokens'], description: 'A limit of tokens was reached.', fields: [] },
      { kinds: ['interrupted'], description: 'The process died; written by recovery only.', fields: [] },
    ],
  },
  ToolCall: {
    description: 'One tool call that an answer asks for.',
    fields: [callId, toolName, toolArguments],
  },
  Usage: {
    description: 'Token counts of one answer. Unknown counts are absent.',
    fields: [
      may('inputTokens', integer(0), 'Tokens read, those of the cache excluded.'),
      may('outputTokens', integer(0), 'Tokens written.'),
      may('cacheReadTokens', integer(0), "Tokens taken from the provider's cache."),
      may('cacheWriteTokens', integer(0), "Tokens put into the provider's cache."),
      may('reasoningTokens', integer(0), 'Tokens of reasoning, where counted apart.'),
    ],
  },
  MessageSource: {
    description: 'Where a user-role message came from. Other fields are free.',
    fields: [must('kind', string, 'An open word: `human`, `context`, `sub-agent`, `command`, ...')],
  },
  Synthetic: {
    description: 'Marks a result that was made by `closeTurn` or recovery, not by the tool.',
    fields: [
      must(
        'tier',
        oneOf('not-started', 'safe-to-retry', 'reconcile', 'outcome-unknown'),
        'What may be assumed of the call.',
      ),
      idempotencyKey,
      externalId,
    ],
  },
}
