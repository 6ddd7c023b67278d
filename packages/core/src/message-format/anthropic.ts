import type { ToolCall } from '../event/vocabulary.ts'
import type { CallOutcome, MessageFormat, PartialBlock } from './message-format.ts'
import { messageText } from './message-text.ts'
import { textBlocks } from './partial-text.ts'

/** Messages of Anthropic's Messages API. */
export const anthropic: MessageFormat = Object.freeze({
  name: 'anthropic',
  toolResult: (call: ToolCall, outcome: CallOutcome): unknown => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: call.callId, content: outcome.text, is_error: true }],
  }),
  /** Without reasoning: a thinking block is refused unless it carries the signature that comes at its end. */
  partialAssistant(blocks: readonly PartialBlock[]): unknown {
    const content = textBlocks(blocks).map(({ text }) => ({ type: 'text', text }))
    return content.length === 0 ? undefined : { role: 'assistant', content }
  },
  text: messageText,
})
