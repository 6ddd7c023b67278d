import type { CallOutcome, MessageFormat, PartialBlock, ToolCall } from '@session-persistence/core'
import { isRecord } from '../source/record-fields.ts'

/**
 * Messages of DeepSeek Harness: `{ role, content, id?, source? }` with blocks `text`, `reasoning`, `tool-call`
 * (`id`, `name`, `arguments` as JSON text) and `tool-result` (`toolCallId`, `content`, `isError`). A persistence that is
 * to resume imported logs in mid-turn is opened with it in `messageFormats`.
 */
export const dsh: MessageFormat = Object.freeze({
  name: 'dsh',
  toolResult: (call: ToolCall, outcome: CallOutcome): unknown =>
    toolResultMessage(call.callId, [{ type: 'text', text: outcome.text }], true),
  partialAssistant(blocks: readonly PartialBlock[]): unknown {
    const content = blocks.filter(({ text }) => text !== '').map(({ kind, text }) => ({ type: kind, text }))
    return content.length === 0 ? undefined : { role: 'assistant', content }
  },
  text(message: unknown): string {
    const content = isRecord(message) ? message.content : undefined
    return Array.isArray(content) ? content.map(blockText).filter(Boolean).join('\n') : ''
  },
})

/** The message of a tool result, in the form that the harness writes today. */
export function toolResultMessage(callId: string, content: unknown, isError: unknown): unknown {
  const block = {
    type: 'tool-result',
    toolCallId: callId,
    ...(content !== undefined && { content }),
    ...(isError !== undefined && { isError }),
  }
  return { source: { kind: 'tool', callId }, content: [block], role: 'user' }
}

function blockText(block: unknown): string {
  if (!isRecord(block)) return ''
  const { type, text, content } = block
  if (type === 'text' && typeof text === 'string') return text
  return type === 'tool-result' && Array.isArray(content) ? content.map(blockText).filter(Boolean).join('\n') : ''
}
