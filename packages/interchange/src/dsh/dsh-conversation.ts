import { chunkDelta } from './dsh-chunks.ts'
import type { DshContext, DshEntry } from './dsh-context.ts'
import { answerOf, resultOf, userMessageOf } from './dsh-messages.ts'

/** Messages, stream chunks, calls and results. Each returns false when the record is to be kept whole. */

export function userMessage(context: DshContext, entry: DshEntry): boolean {
  context.dropPlace(entry)
  const input = userMessageOf(entry.fields, entry.record.type)
  if (input === undefined) return false
  const { message, source } = input
  const data = { message, ...(source !== undefined && { source }), ...context.imported(entry) }
  context.log.userMessage(data, entry.when, entry.placed, entry.options)
  return true
}

export function answer(context: DshContext, entry: DshEntry): boolean {
  context.dropPlace(entry)
  const answer = answerOf(entry.fields)
  if (answer === undefined) return false
  return context.added(entry, context.log.answer({ ...answer, ...context.imported(entry) }, entry.when, entry.options))
}

export function chunk(context: DshContext, entry: DshEntry): boolean {
  const { fields, when } = entry
  if (!context.isOpen(fields.peek('turn'), fields.peek('step'))) return context.added(entry, undefined)
  context.dropPlace(entry)
  const chunk = fields.record('chunk')
  if (chunk === undefined) return false
  const data = { ...context.inStep(), ...chunkDelta(chunk), ...context.imported(entry) }
  return context.added(entry, context.log.add('assistant/chunk', data, when))
}

export function call(context: DshContext, entry: DshEntry): boolean {
  context.dropPlace(entry)
  const { fields } = entry
  const callId = fields.string('callId')
  const name = fields.string('name')
  if (callId === undefined || name === undefined) return false
  const call = { callId, name, arguments: fields.take('arguments') ?? null, ...context.imported(entry) }
  return context.added(entry, context.log.beginCall(call, entry.when, entry.options))
}

export function result(context: DshContext, entry: DshEntry): boolean {
  context.dropPlace(entry)
  const result = resultOf(entry.fields)
  if (result === undefined) return false
  context.log.result({ ...result, ...context.imported(entry) }, entry.when, entry.placed, entry.options)
  return true
}
