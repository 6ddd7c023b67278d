// Proves each rule of the grammar by events that it refuses, and the accepted side of the table by logs that pass.
import { describe, expect, it } from 'vitest'
import { SessionError } from '../../src/errors.ts'
import { decodeEvent } from '../../src/event/decode-event.ts'
import type { AnySessionEvent } from '../../src/event/event.ts'
import { GRAMMAR_RULES } from '../../src/event/grammar-rules.ts'
import { LogFold } from '../../src/projection/log-fold.ts'
import { parseSnapshot, snapshotText } from '../../src/projection/snapshot.ts'
import { ACCEPTED, REFUSED } from './rule-cases.ts'

function folded(events: readonly AnySessionEvent[]): LogFold {
  const fold = new LogFold()
  for (const event of events) fold.accept(event)
  return fold
}

/** The same log as a reader gets it: other objects, equal content. */
function stored<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

function fromSnapshot(fold: LogFold): LogFold {
  if (fold.nextSeq === 0) return fold
  const again = parseSnapshot(snapshotText(fold, { seq: fold.nextSeq - 1, crc: '00000000' }), [])
  if (again === undefined) throw new Error('the snapshot was refused')
  return again.restore()
}

/** Every way in which a log reaches the judge: appending, replaying what is stored, going on from a snapshot. */
const WAYS: readonly (readonly [string, (events: readonly AnySessionEvent[]) => LogFold])[] = [
  ['append', folded],
  ['a group on a copy', (events) => folded(events).clone()],
  ['a replay', (events) => folded(stored(events))],
  ['a replay from a snapshot', (events) => fromSnapshot(folded(stored(events)))],
]

function verdictOf(fold: LogFold, event: AnySessionEvent): unknown {
  try {
    fold.accept(event)
    return 'accepted'
  } catch (error) {
    return error
  }
}

describe.each(WAYS)('the grammar by %s', (_, foldOf) => {
  it.each(REFUSED)('refuses by $rule: $title', ({ rule, before, event }) => {
    const fold = foldOf(before)
    const { content } = fold
    const error = verdictOf(fold, event)
    expect(error).toBeInstanceOf(SessionError)
    expect(error).toMatchObject({ code: 'INVALID_EVENT', seq: event.seq })
    expect(String(error)).toContain(`(rule ${rule};`)
    expect(fold.content.core).toBe(content.core)
    expect(fold.nextSeq).toBe(content.nextSeq)
  })

  it.each(ACCEPTED)('accepts $title', ({ events }) => {
    for (const event of events)
      expect([event.seq, verdictOf(foldOf(events.slice(0, event.seq)), event)]).toEqual([event.seq, 'accepted'])
  })
})

function expectReadable(events: readonly AnySessionEvent[]): void {
  for (const event of events) expect(decodeEvent(stored(event), event.seq)).toEqual(event)
}

describe('the table', () => {
  it.each(ACCEPTED)('accepts nothing that a reader takes for damage: $title', ({ events }) => expectReadable(events))

  it('has a refused case for every rule, and no case for another', () => {
    const ids = GRAMMAR_RULES.map((rule) => rule.id)
    expect(new Set(REFUSED.map(({ rule }) => rule))).toEqual(new Set(ids))
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('never lets payload into a message', () => {
    const secret = 'hunter2'
    const events: AnySessionEvent[] = [
      { seq: 0, time: 1, type: 'turn/end', data: { turn: secret, reason: secret } },
      { seq: 0, time: 1, type: 'tool/result', data: { callId: secret, message: secret } },
      { seq: 0, time: 1, type: `${secret}/x`, data: secret, sources: [[0, 9]] },
    ]
    for (const event of events) expect(String(verdictOf(new LogFold(), event))).toMatch(/^(?!.*hunter2).*refused/)
  })
})
