// Proves that every prefix of a random log can be closed: the closers pass the grammar, leave nothing open, and close
// alike whether the unfinished answer was followed live or read again from where it starts.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { AnySessionEvent } from '../../src/event/event.ts'
import { plain } from '../../src/message-format/plain.ts'
import { LogFold } from '../../src/projection/log-fold.ts'
import { PartialAnswer } from '../../src/projection/partial-answer.ts'
import { closingEvents } from '../../src/recovery/closing-events.ts'
import { NaiveLog } from '../projection/naive-log.ts'
import { grow, proposals, SCALE } from '../projection/proposals.ts'

it('closes whatever a log leaves open', () => {
  const reached = new Map<string, number>()
  fc.assert(
    fc.property(proposals, (steps) => {
      const { events } = grow(new NaiveLog(), steps)
      const fold = new LogFold()
      const live = new PartialAnswer()
      for (const event of events) {
        fold.accept(event)
        live.accept(event)
        const again = new PartialAnswer()
        for (const one of events.slice(fold.answerStart ?? event.seq + 1, event.seq + 1)) again.accept(one)
        expect(again.blocks()).toEqual(live.blocks().filter(() => fold.answerStart !== undefined))
        const after = fold.clone()
        for (const input of closers(fold, again)) {
          after.accept({ seq: after.nextSeq, time: 1, ...input } as AnySessionEvent)
          reached.set(input.type, (reached.get(input.type) ?? 0) + 1)
        }
        expect([after.openTurn, after.openCalls(), after.isStable]).toEqual([undefined, [], true])
        expect(closers(after, new PartialAnswer())).toEqual([])
      }
    }),
    { numRuns: 200 * SCALE, seed: 20_240_604 },
  )
  expect([...reached.keys()].sort()).toEqual([
    'assistant/message',
    'compaction/end',
    'step/end',
    'tool/result',
    'turn/end',
  ])
})

function closers(fold: LogFold, partial: PartialAnswer): ReturnType<typeof closingEvents> {
  return closingEvents(fold, {
    reason: { kind: 'interrupted' },
    format: plain,
    blocks: partial.blocks(),
    keepPartialAnswer: true,
  })
}
