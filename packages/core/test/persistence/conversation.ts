/** The events of a small conversation, as a harness would append them. */
import type { Session } from '../../src/persistence/session-persistence.ts'

export const HEADER = { model: 'test-model', config: { temperature: 0 }, system: 'be brief', tools: [] } as const

export const user = (text: string): { role: string; content: string } => ({ role: 'user', content: text })
export const assistant = (text: string): { role: string; content: string } => ({ role: 'assistant', content: text })
export const tool = (text: string): { role: string; content: string } => ({ role: 'tool', content: text })

/** One whole turn without tools: 6 events. */
export function completeTurn(session: Session, turn: number, question: string, answer: string): void {
  session.append('turn/start', { turn })
  session.append('user/message', { turn, message: user(question) })
  session.append('step/start', { turn, step: 1 })
  session.append('assistant/message', { turn, step: 1, message: assistant(answer), toolCalls: [] })
  session.append('step/end', { turn, step: 1 })
  session.append('turn/end', { turn, reason: { kind: 'completed' } })
}

/** Header, and a turn that stands before the result of its one call. */
export function turnUpToCall(session: Session): void {
  session.append('request/header', HEADER)
  session.append('turn/start', { turn: 1 })
  session.append('user/message', { turn: 1, message: user('how many lines?') })
  session.append('step/start', { turn: 1, step: 1 })
  const call = { callId: 'c1', name: 'count', arguments: { file: 'a.txt' } }
  session.append('assistant/message', { turn: 1, step: 1, message: assistant('let me look'), toolCalls: [call] })
  session.append('tool/call', { turn: 1, step: 1, ...call })
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
