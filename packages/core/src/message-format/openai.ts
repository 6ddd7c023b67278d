import type { ToolCall } from '../event/vocabulary.ts'
import type { CallOutcome, MessageFormat, PartialBlock } from './message-format.ts'
import { messageText } from './message-text.ts'
import { joinedText } from './partial-text.ts'

/**
 * Messages of OpenAI's Chat Completions API, and of the many services that speak it. `text` reads items of the
 * Responses API as well.
 */
export const openai: MessageFormat = Object.freeze({
  name: 'openai',
  toolResult: (call: ToolCall, outcome: CallOutcome): unknown => ({
    role: 'tool',
    tool_call_id: call.callId,
    content: outcome.text,
  }),
  /** Without reasoning: the API takes none back. */
  partialAssistant(blocks: readonly PartialBlock[]): unknown {
    const content = joinedText(blocks)
    return content === undefined ? undefined : { role: 'assistant', content }
  },
  text: messageText,
})
