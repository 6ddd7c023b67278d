// Proves that events leave the queue in order and in whole groups, within one batch's bytes, also after a failed write.

import { describe, expect, it } from 'vitest'
import type { AnySessionEvent } from '../../src/event/event.ts'
import { BATCH_SIZE_MAX } from '../../src/event/event-bytes.ts'
import { PendingEvents } from '../../src/session/pending-events.ts'

const event = (seq: number): AnySessionEvent => ({ seq, time: 0, type: 'a/b', data: null })
const seqs = (events: readonly AnySessionEvent[]): readonly number[] => events.map(({ seq }) => seq)
const THIRD = Math.ceil(BATCH_SIZE_MAX / 3)

describe('pending events', () => {
  it('leave together when they fit, and are counted until they are settled', () => {
    const pending = new PendingEvents()
    pending.push(event(0), 10)
    pending.pushGroup([event(1), event(2)], 30)
    expect(seqs(pending.take())).toEqual([0, 1, 2])
    pending.push(event(3), 5)
    expect(pending.bytes).toBe(45)
    expect(seqs(pending.all())).toEqual([0, 1, 2, 3])
    pending.settled()
    expect(pending.bytes).toBe(5)
    expect(pending.isEmpty).toBe(false)
    expect(seqs(pending.take())).toEqual([3])
    pending.settled()
    expect(pending.isEmpty).toBe(true)
    expect(pending.take()).toEqual([])
  })

  it('leave in whole groups, as many as a batch holds', () => {
    const pending = new PendingEvents()
    pending.push(event(0), THIRD)
    pending.pushGroup([event(1), event(2)], THIRD)
    pending.pushGroup([event(3), event(4)], THIRD)
    pending.push(event(5), 1)
    expect(seqs(pending.take())).toEqual([0, 1, 2])
    pending.settled()
    expect(seqs(pending.take())).toEqual([3, 4, 5])
    pending.settled()
    expect(pending.bytes).toBe(0)
  })

  it('leave alone when one is larger than a batch', () => {
    const pending = new PendingEvents()
    pending.push(event(0), 2 * BATCH_SIZE_MAX)
    pending.push(event(1), 1)
    expect(seqs(pending.take())).toEqual([0])
    pending.settled()
    expect(seqs(pending.take())).toEqual([1])
  })

  it('stand first again after a failure, joined by what came meanwhile, in the same groups', () => {
    const pending = new PendingEvents()
    pending.push(event(0), THIRD)
    pending.push(event(1), THIRD)
    expect(seqs(pending.take())).toEqual([0, 1])
    pending.pushGroup([event(2), event(3)], THIRD)
    pending.putBack()
    expect(pending.bytes).toBe(3 * THIRD)
    expect(seqs(pending.all())).toEqual([0, 1, 2, 3])
    expect(seqs(pending.take())).toEqual([0, 1])
    pending.putBack()
    pending.push(event(4), 1)
    expect(seqs(pending.take())).toEqual([0, 1])
    pending.settled()
    expect(seqs(pending.take())).toEqual([2, 3, 4])
  })
})
