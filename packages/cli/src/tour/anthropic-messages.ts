/** The tour's own message makers and readers, in Anthropic's form: what a harness already has for its provider. */
import type { ToolCall } from 'session-persistence'

export function userMessage(text: string): unknown {
  return { role: 'user', content: text }
}

export function assistantMessage(text: string, calls: readonly ToolCall[]): unknown {
  const uses = calls.map((call) => ({ type: 'tool_use', id: call.callId, name: call.name, input: call.arguments }))
  return { role: 'assistant', content: [{ type: 'text', text }, ...uses] }
}

export function toolMessage(callId: string, output: string, failed: boolean): unknown {
  const result = { type: 'tool_result', tool_use_id: callId, content: output, ...(failed ? { is_error: true } : {}) }
  return { role: 'user', content: [result] }
}

/** One tool result, as the model finds it in a request. */
export interface ReadResult {
  readonly callId: string
  readonly output: string
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

function blocksOf(message: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!isRecord(message) || !Array.isArray(message.content)) return []
  return message.content.filter(isRecord)
}

/** The text of a prompt; undefined for any other message. */
export function promptText(message: unknown): string | undefined {
  if (!isRecord(message) || message.role !== 'user') return undefined
  return typeof message.content === 'string' ? message.content : undefined
}

export function isAssistant(message: unknown): boolean {
  return isRecord(message) && message.role === 'assistant'
}

export function toolResults(message: unknown): readonly ReadResult[] {
  return blocksOf(message)
    .filter((block) => block.type === 'tool_result')
    .map((block) => ({ callId: String(block.tool_use_id), output: outputText(block.content) }))
}

function outputText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .filter(isRecord)
    .map((block) => String(block.text ?? ''))
    .join('\n')
}
