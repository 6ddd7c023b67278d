/** A turn that asks for one call, and the start of that call as a batch of its own: where a log may end when it is damaged. */
import type { AnySessionEvent } from '@session-persistence/core'
import { SAMPLE_TIME } from './sample-log.ts'

const place = { turn: 1, step: 1 }
const call = { callId: 'a', name: 'send_mail', arguments: { to: 'team' } }

function events(from: number, ...all: readonly (readonly [type: string, data: object])[]): readonly AnySessionEvent[] {
  return all.map(([type, data], index) => ({ seq: from + index, time: SAMPLE_TIME + from + index, type, data }))
}

export const ASKED: readonly AnySessionEvent[] = events(
  0,
  ['turn/start', { turn: 1 }],
  ['user/message', { turn: 1, message: { role: 'user', content: 'send the report' } }],
  ['step/start', place],
  ['assistant/message', { ...place, message: { role: 'assistant', content: 'sending' }, toolCalls: [call] }],
)

export const BEGUN: readonly AnySessionEvent[] = events(4, ['tool/call', { ...place, ...call }])
