/** Events of one line each, so that a case can show an order of them at a glance. */
import type { AnySessionEvent, EventInput } from '@session-persistence/core'
import { contentOf } from './stored-events.ts'
import { plainMessage } from './workload.ts'

/** One event, written short: a type, its data, its envelope fields. */
export type Line = readonly [type: string, data: unknown, options?: Pick<AnySessionEvent, 'surface' | 'sources'>]

export const turn = (n: number): Line => ['turn/start', { turn: n }]
export const turnEnd = (n: number): Line => ['turn/end', { turn: n, reason: { kind: 'completed' } }]
export const step = (t: number, s: number): Line => ['step/start', { turn: t, step: s }]
export const stepEnd = (t: number, s: number): Line => ['step/end', { turn: t, step: s }]
export const user = (place: object = {}, text = 'hi'): Line => [
  'user/message',
  { ...place, message: plainMessage('user', text) },
]
export const asks = (place: object, ...callIds: readonly string[]): Line => [
  'assistant/message',
  {
    ...place,
    message: plainMessage('assistant', 'ok'),
    toolCalls: callIds.map((callId) => ({ callId, name: 'tool', arguments: {} })),
  },
]
export const call = (place: object, callId: string): Line => [
  'tool/call',
  { ...place, callId, name: 'tool', arguments: {} },
]
export const result = (place: object, callId: string): Line => [
  'tool/result',
  { ...place, callId, message: plainMessage('tool', 'done') },
]
export const sent = (place: object, attempt: number): Line => ['request/sent', { ...place, attempt }]
export const chunk = (place: object): Line => ['assistant/chunk', { ...place, kind: 'text', index: 0, text: 'x' }]

export const one: { readonly turn: number; readonly step: number } = { turn: 1, step: 1 }
export const two: { readonly turn: number; readonly step: number } = { turn: 1, step: 2 }

export function execution(place: object, callId: string): Line {
  return ['tool/execution', { ...place, callId, state: 'started' }]
}

export function inputOf([type, data, options]: Line): unknown {
  return contentOf({ type, data, ...options } as EventInput)
}

export function typesOf(lines: readonly Line[]): string {
  return lines.map(([type, data]) => `${type} ${JSON.stringify(data).slice(0, 40)}`).join('; ')
}
