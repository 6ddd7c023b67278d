// Proves that whatever data a stored event carries, the fold accepts or refuses it, and never crashes or half-applies.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { isSessionError } from '../../src/errors.ts'
import type { AnySessionEvent } from '../../src/event/event.ts'
import { coreEventTypes } from '../../src/event/vocabulary-table.ts'
import { plain } from '../../src/message-format/plain.ts'
import { LogFold } from '../../src/projection/log-fold.ts'
import { PartialAnswer } from '../../src/projection/partial-answer.ts'
import { parseSnapshot, snapshotText } from '../../src/projection/snapshot.ts'
import { closingEvents } from '../../src/recovery/closing-events.ts'
import { NaiveLog } from '../projection/naive-log.ts'
import { eventFor, grow, proposals, SCALE } from '../projection/proposals.ts'

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0, 1, 1.5, 1e308, '', 'a', [], {}, [null], { length: 2 }, [[1, 2]]),
  fc.constantFrom<unknown>({ kind: null }, { kind: 'completed' }, { callId: 'a' }, [{ callId: 'a', name: 't' }]),
  fc.jsonValue(),
)

it('a fold takes or refuses hostile events, whole', () => {
  let accepted = 0
  fc.assert(
    fc.property(
      proposals,
      fc.array(fc.tuple(fc.constantFrom(...coreEventTypes), odd, fc.nat(), fc.boolean(), odd)),
      (steps, attacks) => {
        const log = grow(new NaiveLog(), steps.slice(0, 20))
        const fold = new LogFold()
        const partial = new PartialAnswer()
        for (const event of log.events) fold.accept(event)
        for (const [index, [type, value, at, whole, envelope]] of attacks.entries()) {
          const step = steps[at % steps.length]
          if (step === undefined) continue
          // A fine event with one field spoilt gets further than one that is all nonsense.
          const fine = eventFor(log, step)
          const keys = Object.keys(fine.data as object)
          const spoilt = { ...(fine.data as object), [keys[at % keys.length] ?? 'message']: value }
          const event = {
            ...fine,
            seq: fold.nextSeq,
            ...(whole ? { type, data: value } : { data: spoilt }),
            ...((at + index) % 5 === 0 && { surface: envelope }),
            ...((at + index) % 7 === 0 && { sources: envelope }),
          } as AnySessionEvent
          const { content } = fold
          try {
            fold.accept(event)
            partial.accept(event)
            accepted += 1
          } catch (error) {
            expect(isSessionError(error, 'INVALID_EVENT')).toBe(true)
            expect(fold.content.core).toBe(content.core)
            expect(fold.nextSeq).toBe(content.nextSeq)
          }
          expectSound(fold, partial)
        }
      },
    ),
    { numRuns: 300 * SCALE, seed: 20_240_609 },
  )
  expect(accepted).toBeGreaterThan(100)
})

/** Every answer can be given, a snapshot restores, and what is open can be closed. */
function expectSound(fold: LogFold, partial: PartialAnswer): void {
  expect(fold.messages()).toHaveLength(fold.surface().length)
  fold.lastRequest()
  fold.summary()
  expect(Object.values(fold.usage().total).every(Number.isFinite)).toBe(true)
  if (fold.nextSeq > 0) {
    const snapshot = parseSnapshot(snapshotText(fold, { seq: fold.nextSeq - 1, crc: '00000000' }), [])
    expect(snapshot?.restore().openCalls()).toEqual(fold.openCalls())
  }
  const after = fold.clone()
  const reason = { kind: 'interrupted' } as const
  const closers = closingEvents(fold, { reason, format: plain, blocks: partial.blocks(), keepPartialAnswer: true })
  for (const input of closers) after.accept({ seq: after.nextSeq, time: 1, ...input } as AnySessionEvent)
  expect(after.isStable).toBe(true)
}
