// Proves that the fold gives the verdicts and the state of a naive model that rescans the whole log, on random logs.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSessionError } from '../../src/errors.ts'
import type { AnySessionEvent } from '../../src/event/event.ts'
import { LogFold } from '../../src/projection/log-fold.ts'
import { expectSame } from './expect-same.ts'
import { NaiveLog } from './naive-log.ts'
import { eventFor, proposals, SCALE } from './proposals.ts'

describe('a fold against the naive model', () => {
  it('agrees on every verdict and every state', () => {
    const reached = new Map<string, number>()
    fc.assert(
      fc.property(proposals, (steps) => {
        const log = new NaiveLog()
        const fold = new LogFold()
        for (const step of steps) {
          const event = eventFor(log, step)
          const verdict = judged(fold, event)
          expect({ event, verdict }).toEqual({ event, verdict: log.allows(event) })
          if (verdict) log.events.push(event)
          const key = `${event.type} ${event.surface ? 'replaces ' : ''}${verdict ? 'accepted' : 'refused'}`
          reached.set(key, (reached.get(key) ?? 0) + 1)
          expectSame(fold, log)
        }
      }),
      { numRuns: 300 * SCALE, seed: 20_240_601 },
    )
    // The generator is worth nothing if it never reaches the interesting cases.
    for (const type of ['assistant/message', 'tool/result', 'user/message'])
      for (const verdict of ['accepted', 'refused', 'replaces accepted', 'replaces refused'])
        expect([type, verdict, (reached.get(`${type} ${verdict}`) ?? 0) > 20]).toEqual([type, verdict, true])
    for (const type of ['tool/call', 'tool/execution', 'surface/remove', 'request/sent', 'step/end', 'turn/end'])
      for (const verdict of ['accepted', 'refused'])
        expect([type, verdict, (reached.get(`${type} ${verdict}`) ?? 0) > 20]).toEqual([type, verdict, true])
  })
})

function judged(fold: LogFold, event: AnySessionEvent): boolean {
  try {
    fold.accept(event)
    return true
  } catch (error) {
    if (isSessionError(error, 'INVALID_EVENT') && error.seq === event.seq) return false
    throw error
  }
}
