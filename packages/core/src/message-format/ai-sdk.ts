import type { ToolCall } from '../event/vocabulary.ts'
import type { CallOutcome, MessageFormat, PartialBlock } from './message-format.ts'
import { messageText } from './message-text.ts'
import { textBlocks } from './partial-text.ts'

/** `ModelMessage` of the AI SDK, version 5 and newer. `text` reads UI messages and older tool results as well. */
export const aiSdk: MessageFormat = Object.freeze({
  name: 'ai-sdk',
  toolResult: (call: ToolCall, outcome: CallOutcome): unknown => ({
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: call.callId,
        toolName: call.name,
        output: { type: 'error-text', value: outcome.text },
      },
    ],
  }),
  /** With reasoning, if there is text too: the SDK leaves out what the provider would refuse. */
  partialAssistant(blocks: readonly PartialBlock[]): unknown {
    if (textBlocks(blocks).length === 0) return undefined
    const kept = blocks.filter(({ text }) => text.trim() !== '')
    return { role: 'assistant', content: kept.map(({ kind, text }) => ({ type: kind, text })) }
  },
  text: messageText,
})
