/** Our generated events in the vocabulary of DeepSeek Harness: the same deltas, messages and times, one for one. */
import type { AnySessionEvent } from 'session-persistence'

export interface HarnessEvent {
  readonly type: string
  readonly seq: number
  readonly time: number
  readonly data: object
  readonly surfaceOp?: 'append' | { readonly op: 'replace'; readonly start: number; readonly end: number }
  /** What a replacement was made from: it must name all that it takes the place of. */
  readonly sourceEventSeqs?: readonly number[]
}

type Data = { readonly [key: string]: unknown }

/** Events that it has no type for become this one, which it stores as it is. */
const OTHER = 'request/context'

/** Translates one log, event after event. */
export class HarnessEvents {
  /** Seqs of the live messages. */
  #live: number[] = []

  next(event: AnySessionEvent): HarnessEvent {
    const translated = translate(event)
    if (translated.surfaceOp === undefined) return translated
    const { seq, surface } = event
    if (surface === undefined || !('replace' in surface)) {
      this.#live.push(seq)
      return translated
    }
    const [start, end] = surface.replace
    const sources = this.#live.filter((live) => live >= start && live <= end)
    this.#live = [...this.#live.filter((live) => live < start || live > end), seq]
    return { ...translated, surfaceOp: { op: 'replace', start, end }, sourceEventSeqs: sources }
  }
}

function translate(event: AnySessionEvent): HarnessEvent {
  const { seq, time } = event
  const data = event.data as Data
  const envelope = { seq, time }
  const surfaceOp = 'append'
  const { turn, step } = data
  const place = { turn, step }
  switch (event.type) {
    case 'assistant/chunk':
      return { type: event.type, ...envelope, data: { ...place, chunk: chunkOf(data) } }
    case 'user/message': {
      const message = { role: 'user', id: `message-${seq}`, content: [textOf(data)], source: { kind: 'user' } }
      return { type: event.type, ...envelope, data: message, surfaceOp }
    }
    case 'assistant/message': {
      const { provider, model, usage } = data
      const source = { kind: 'model', provider, model }
      const message = { role: 'assistant', id: `message-${seq}`, content: [textOf(data), ...callsOf(data)], source }
      return { type: event.type, ...envelope, data: { ...place, message, usage }, surfaceOp }
    }
    case 'tool/result': {
      const content = [{ type: 'tool-result', toolCallId: data.callId, content: [textOf(data)], isError: false }]
      const message = { role: 'user', id: `message-${seq}`, content, source: { kind: 'tool', callId: data.callId } }
      return { type: event.type, ...envelope, data: { ...place, message }, surfaceOp }
    }
    case 'tool/call': {
      const { callId, name } = data
      const call = { ...place, callId, name, arguments: JSON.stringify(data.arguments) }
      return { type: event.type, ...envelope, data: call }
    }
    case 'turn/start':
    case 'turn/end':
    case 'step/start':
    case 'step/end':
      return { type: event.type, ...envelope, data }
    default:
      return { type: OTHER, ...envelope, data: { provider: 'provider-1', model: 'model-1', ...data } }
  }
}

function chunkOf({ kind, index, text, callId, name }: Data): object {
  if (kind === 'tool-arguments') return { type: 'tool-call-delta', index, id: callId, name, argumentsDelta: text }
  return { type: kind === 'text' ? 'text-delta' : 'reasoning-delta', index, text }
}

function textOf({ message }: Data): object {
  const { content } = message as Data
  return { type: 'text', text: content }
}

function callsOf({ toolCalls }: Data): readonly object[] {
  return (toolCalls as readonly Data[]).map(({ callId, name, arguments: given }) => ({
    type: 'tool-call',
    id: callId,
    name,
    arguments: JSON.stringify(given),
  }))
}
