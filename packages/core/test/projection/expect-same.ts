// Compares everything that a fold answers with what the naive model derives.
import { expect } from 'vitest'
import type { LogFold } from '../../src/projection/log-fold.ts'
import { turnsProjection } from '../../src/projection/turns.ts'
import type { NaiveLog } from './naive-log.ts'

/** `toEqual` takes an absent key and an undefined value for the same, as the state does. */
export function expectSame(fold: LogFold, log: NaiveLog): void {
  expect(fold.nextSeq).toBe(log.events.length)
  expect(fold.lastEvent).toBe(log.events.at(-1))
  expect(fold.messages()).toEqual(log.messages())
  expect(fold.surface().map((entry) => entry.seq)).toEqual(log.live().map((event) => event.seq))
  expect(fold.modelContext()).toEqual(log.context())
  expect(fold.lastRequest()).toEqual(log.lastRequest())
  expect(fold.openTurn).toEqual(log.openTurn && { turn: log.openTurn, step: log.openStep })
  expect(fold.openCalls().map((call) => [call.callId, call.askedAt, call.arguments])).toEqual(
    log.open.map(({ call, at }) => [call.callId, at, call.arguments]),
  )
  expect(fold.answerStart).toBe(log.answerStart)
  expect(fold.state(turnsProjection).attempt).toBe(log.attempt)
  expect(fold.summary().turns).toBe(log.turns)
  const messages = log.events.filter((event) => /\/message$|^tool\/result$/.test(event.type))
  expect(fold.summary().messages).toBe(messages.filter((event) => event.surface === undefined).length)
  const appended = log.events.filter((event) => event.type === 'assistant/message' && event.surface === undefined)
  expect(fold.usage().answers).toBe(appended.length)
  const input = appended.map((event) => (event.data as { usage: { inputTokens: number } }).usage.inputTokens)
  expect(fold.usage().total.inputTokens).toBe(input.reduce((sum, count) => sum + count, 0))
}
