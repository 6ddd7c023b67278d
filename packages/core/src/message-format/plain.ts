import type { ToolCall } from '../event/vocabulary.ts'
import type { CallOutcome, MessageFormat, PartialBlock } from './message-format.ts'
import { messageText } from './message-text.ts'
import { joinedText } from './partial-text.ts'

/** `{ role, content }` with content as a string: the form of a harness that has none of its own. */
export const plain: MessageFormat = Object.freeze({
  name: 'plain',
  toolResult: (call: ToolCall, outcome: CallOutcome): unknown => ({
    role: 'tool',
    callId: call.callId,
    name: call.name,
    content: outcome.text,
    isError: true,
  }),
  partialAssistant(blocks: readonly PartialBlock[]): unknown {
    const content = joinedText(blocks)
    return content === undefined ? undefined : { role: 'assistant', content }
  },
  text: messageText,
})
