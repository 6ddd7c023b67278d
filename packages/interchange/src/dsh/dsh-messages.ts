import type { ErrorInfo, MessageSource, ToolCall, Usage } from '@session-persistence/core'
import type { AnswerInput, ResultInput } from '../assembly/event-inputs.ts'
import { isCount, isRecord, type RecordFields } from '../source/record-fields.ts'
import { toolResultMessage } from './dsh-format.ts'

/**
 * Message records come in two generations: the older one has the parts of the message in `data` itself, the newer one
 * has a `message` there (answers, results, steering) or is the message (user messages).
 */

const SOURCE_KINDS: { readonly [kind: string]: string } = { user: 'human', plugin: 'context' }

/** The message and source of a `user/message`, `context/message` or `steering/message`; undefined without content. */
export function userMessageOf(
  fields: RecordFields,
  type: unknown,
): { readonly message: unknown; readonly source: MessageSource | undefined } | undefined {
  const message = fields.record('message') ?? inlineMessage(fields, 'user')
  if (message === undefined) return undefined
  const source = sourceOf(isRecord(message) ? message.source : undefined)
  const via = type === 'user/message' ? undefined : String(type).replace('/message', '')
  return { message, source: via === undefined ? source : { kind: 'context', ...source, via } }
}

function sourceOf(source: unknown): MessageSource | undefined {
  if (!isRecord(source) || typeof source.kind !== 'string') return undefined
  const { kind } = source
  return { ...source, kind: Object.hasOwn(SOURCE_KINDS, kind) ? (SOURCE_KINDS[kind] ?? kind) : kind }
}

function inlineMessage(fields: RecordFields, role: string): { readonly [key: string]: unknown } | undefined {
  if (!Array.isArray(fields.peek('content')) && typeof fields.peek('content') !== 'string') return undefined
  const given = fields.string('role')
  const message: Record<string, unknown> = { role: given ?? role, content: fields.take('content') }
  for (const name of ['source', 'provenance', 'id']) {
    if (fields.peek(name) !== undefined) message[name] = fields.take(name)
  }
  return message
}

/** The parts of an `assistant/message`; undefined without content. */
export function answerOf(fields: RecordFields): AnswerInput | undefined {
  const message = fields.record('message') ?? inlineMessage(fields, 'assistant')
  if (message === undefined) return undefined
  const origin = isRecord(message.source) ? message.source : message.provenance
  const { provider, model } = isRecord(origin) ? origin : {}
  const usage = usageOf(fields)
  const interrupted = fields.peek('interrupted') === true
  if (interrupted) fields.take('interrupted')
  return {
    message,
    toolCalls: toolCallsOf(message.content),
    ...(typeof provider === 'string' && { provider }),
    ...(typeof model === 'string' && { model }),
    ...(usage !== undefined && { usage }),
    ...(interrupted && { interrupted }),
  }
}

function toolCallsOf(content: unknown): ToolCall[] {
  if (!Array.isArray(content)) return []
  return content.flatMap((block: unknown): ToolCall[] => {
    if (!isRecord(block) || block.type !== 'tool-call') return []
    const { id, name, arguments: args } = block
    if (typeof id !== 'string' || typeof name !== 'string') return []
    return [{ callId: id, name, arguments: args ?? null }]
  })
}

const USAGE_KEYS: ReadonlySet<string> = new Set<keyof Usage>([
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
])

/** The counts that core has names for. An odd one stays in the record's other fields with the rest of them. */
function usageOf(fields: RecordFields): Usage | undefined {
  const given = fields.peek('usage')
  if (!isRecord(given)) return undefined
  const known = Object.entries(given).filter(([name, count]) => USAGE_KEYS.has(name) && isCount(count))
  if (known.length === Object.keys(given).length) fields.take('usage')
  return Object.fromEntries(known)
}

/** The parts of a `tool/result`; undefined when it names no call. */
export function resultOf(fields: RecordFields): ResultInput | undefined {
  const given = fields.record('message')
  const callId = given === undefined ? fields.peek('callId') : callIdOf(given)
  if (typeof callId !== 'string') return undefined
  const meta = fields.take('meta')
  const isError = given === undefined ? fields.take('isError') : blockIsError(given)
  const error = errorOf(fields.take('error'), isError)
  fields.take('callId')
  const message = given ?? toolResultMessage(callId, fields.take('content'), isError)
  return { callId, message, ...(error !== undefined && { error }), ...(meta !== undefined && { meta }) }
}

function callIdOf({ source, content }: { readonly [key: string]: unknown }): unknown {
  if (isRecord(source) && typeof source.callId === 'string') return source.callId
  const block: unknown = Array.isArray(content) ? content[0] : undefined
  return isRecord(block) ? block.toolCallId : undefined
}

function blockIsError({ content }: { readonly [key: string]: unknown }): unknown {
  const block: unknown = Array.isArray(content) ? content[0] : undefined
  return isRecord(block) ? block.isError : undefined
}

function errorOf(error: unknown, isError: unknown): ErrorInfo | undefined {
  if (error === undefined) return isError === true ? { code: 'tool-error' } : undefined
  const { code, message } = isRecord(error) ? error : {}
  return {
    ...(typeof code === 'string' && { code }),
    ...(typeof message === 'string' && { message }),
    details: error,
  }
}
