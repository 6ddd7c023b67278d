import { type AnySessionEvent, LIMITS } from '@session-persistence/core'
import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { appendEach, appendUntyped, storedEvents, withoutResumed } from '../stored-events.ts'
import { conversation, EVENTS_PER_TURN, turnEvents } from '../workload.ts'

export const APPEND_CASES: readonly ConformanceCase[] = casesOf('APPEND', {
  1: {
    title: 'Seqs are contiguous from 0, across flushes, closing and resuming.',
    why: 'Order is seq; a gap or a repeat makes a log unreadable.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const first = appendEach(session, turnEvents(1))
      await session.flush()
      const second = appendEach(session, turnEvents(2))
      expectEqual(
        [...first, ...second].map(({ seq }) => seq),
        Array.from({ length: 2 * EVENTS_PER_TURN }, (_, seq) => seq),
        'seqs returned by append',
      )
      expectEqual(session.nextSeq, 2 * EVENTS_PER_TURN, 'nextSeq')
      await session.close()
      const resumed = await persistence.resume('s')
      const third = appendEach(resumed, turnEvents(3))
      await resumed.close()
      const stored = await storedEvents(persistence, 's')
      expectEqual(
        stored.map(({ seq }) => seq),
        stored.map((_, index) => index),
        'seqs stored',
      )
      expectEqual(withoutResumed(stored).slice(-EVENTS_PER_TURN), third, 'events of the second writer')
    },
  },
  2: {
    title: 'Append returns the event as it will be stored, deeply frozen.',
    why: 'Projections, listeners and the queue share it; a change by one would reach all.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const appended = appendEach(session, turnEvents(1))
      for (const event of appended) expectThat(isDeeplyFrozen(event), `event ${event.seq} is not deeply frozen`)
      await session.flush()
      expectEqual(await storedEvents(persistence, 's'), appended, 'stored events')
    },
  },
  3: {
    title: 'A caller that changes what it passed after append returned changes nothing that is stored.',
    why: 'Harnesses reuse and extend their message objects.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const content = [{ kind: 'text', text: 'before' }]
      session.append('user/message', { message: { role: 'user', content } })
      const before = structuredClone(content)
      content.push({ kind: 'text', text: 'added' })
      Object.assign(content[0] ?? {}, { text: 'after' })
      await session.flush()
      const [event] = await storedEvents(persistence, 's')
      expectEqual(event?.data, { message: { role: 'user', content: before } }, 'stored data')
      expectEqual(session.messages(), [{ role: 'user', content: before }], 'live messages')
    },
  },
  4: {
    title: 'appendAll is whole or absent: one refused event refuses the group, and nothing of it is accepted.',
    why: 'Half a compaction destroys history.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const kept = session.appendAll(turnEvents(1))
      const group = [...turnEvents(2).slice(0, 2), { type: 'turn/start', data: { turn: 9 } } as const]
      await expectRefusal(() => session.appendAll(group), 'INVALID_EVENT', 'a group with a turn inside a turn')
      expectEqual(session.nextSeq, EVENTS_PER_TURN, 'nextSeq after the refusal')
      expectEqual(session.pendingEvents().length <= kept.length, true, 'nothing of the group is pending')
      await session.close()
      expectEqual(await storedEvents(persistence, 's'), kept, 'stored events')
    },
  },
  5: {
    title: 'An empty appendAll returns an empty list and changes nothing.',
    why: 'Callers build groups by filtering; an empty one is not an error.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      expectEqual(session.appendAll([]), [], 'result')
      expectEqual(session.nextSeq, 0, 'nextSeq')
      const events = session.appendAll(turnEvents(1))
      expectEqual(session.appendAll([]), [], 'result in mid-log')
      await session.flush()
      expectEqual(await storedEvents(persistence, 's'), events, 'stored events')
    },
  },
  6: {
    title: 'A refused event leaves the session as it was: usable, with nothing appended.',
    why: 'A plugin that passes one bad value must not end the conversation.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const first = appendEach(session, turnEvents(1))
      const refused: readonly (readonly [string, unknown])[] = [
        ['user/message', { message: undefined }],
        ['user/message', { message: { when: new Date(0) } }],
        ['turn/start', { turn: 7 }],
        ['tool/result', { callId: 'never-asked', message: 'x' }],
      ]
      for (const [type, data] of refused) {
        await expectRefusal(() => appendUntyped(session, type, data), 'INVALID_EVENT', `appending a bad ${type}`)
        expectEqual(session.nextSeq, first.length, `nextSeq after a refused ${type}`)
      }
      const second = appendEach(session, turnEvents(2))
      await session.close()
      expectEqual(await storedEvents(persistence, 's'), [...first, ...second], 'stored events')
    },
  },
  7: {
    title: 'Data nested deeper than the limit is refused with TOO_LARGE, naming the limit.',
    why: 'What a reader could not parse must not be stored.',
    run: async (context) => {
      const session = await (await context.open()).create({ id: 's' })
      const deep = nested(LIMITS.depth + 8)
      const error = await expectRefusal(
        () => session.append('user/message', { message: deep }),
        'TOO_LARGE',
        'data nested too deep',
      )
      expectEqual(Number(error.expected), LIMITS.depth, 'limit named by the error')
      expectEqual(session.nextSeq, 0, 'nextSeq')
      session.append('user/message', { message: nested(LIMITS.depth - 8) })
    },
  },
  8: {
    title: 'An event larger than the limit is refused with TOO_LARGE, naming the limit, before anything is written.',
    why: 'Readers allocate by the same limit.',
    needs: { timeoutMs: 60_000 },
    run: async (context) => {
      const session = await (await context.open()).create({ id: 's' })
      const error = await expectRefusal(
        () => session.append('user/message', { message: 'x'.repeat(LIMITS.eventBytes) }),
        'TOO_LARGE',
        'an event over the limit',
      )
      expectEqual(Number(error.expected), LIMITS.eventBytes, 'limit named by the error')
      expectEqual(session.nextSeq, 0, 'nextSeq')
    },
  },
  9: {
    title:
      'Past the bound of pending bytes append throws BACKPRESSURE and accepts nothing; after `drained()` it goes on.',
    why: 'A slow disk must slow the producer down, not fill the memory.',
    run: async (context) => {
      const persistence = await context.open({ pendingBytes: 4096 })
      const session = await persistence.create({ id: 's' })
      const accepted: AnySessionEvent[] = []
      const append = (): AnySessionEvent => session.append('user/message', { message: 'y'.repeat(512) })
      const error = await expectRefusal(
        () => {
          for (let count = 0; count < 100; count += 1) accepted.push(append())
        },
        'BACKPRESSURE',
        '100 events of 512 bytes with a bound of 4,096',
      )
      expectThat(error.message !== '', 'the error has no message')
      expectEqual(session.nextSeq, accepted.length, 'nextSeq after BACKPRESSURE')
      await session.drained()
      accepted.push(append())
      await session.close()
      expectEqual(await storedEvents(persistence, 's'), accepted, 'stored events')
    },
  },
  10: {
    title: 'Events keep the order of their appends, however many flushes run at once.',
    why: 'Two flushes that overtake each other put answers before questions.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const events: AnySessionEvent[] = []
      const flushes: Promise<unknown>[] = []
      for (const input of conversation(8)) {
        events.push(...appendEach(session, [input]))
        flushes.push(session.flush())
      }
      await Promise.all(flushes)
      expectEqual(await storedEvents(persistence, 's'), events, 'stored events')
    },
  },
  11: {
    title:
      'Time is the clock at append, in whole milliseconds; it may repeat and go backwards without moving any event.',
    why: 'Clocks jump; order is seq and never time.',
    run: async (context) => {
      const times = [5000, 1000, 1000, 9000, 0, 7000]
      let calls = 0
      const persistence = await context.open({ clock: () => times[Math.min(calls++, times.length - 1)] ?? 0 })
      const session = await persistence.create({ id: 's' })
      const events = times.map((_, index) => session.append('user/message', { message: `m${index}` }))
      await session.close()
      const stored = await storedEvents(persistence, 's')
      expectEqual(stored, events, 'stored events')
      expectThat(
        stored.some((event, index) => event.time < (stored[index - 1]?.time ?? 0)),
        'the time of a clock that went backwards was changed',
      )
      expectEqual(
        stored.map(({ data }) => data),
        times.map((_, index) => ({ message: `m${index}` })),
        'order of the messages',
      )
    },
  },
})

function nested(depth: number): unknown {
  let value: unknown = 'bottom'
  for (let level = 0; level < depth; level += 1) value = [value]
  return value
}

function isDeeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen)
}
