import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal } from '../expectation.ts'
import { collect, storedEvents, storeSession } from '../stored-events.ts'
import { conversation, turnEvents } from '../workload.ts'

export const READ_CASES: readonly ConformanceCase[] = casesOf('READ', {
  1: {
    title: 'A range is exact and inclusive at both ends, wherever the batches lie.',
    why: 'An off-by-one loses or repeats an event for every reader that pages.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [
        turnEvents(1).slice(0, 1),
        turnEvents(1).slice(1, 5),
        turnEvents(1).slice(5),
      ])
      for (let from = 0; from < events.length; from += 1) {
        for (let to = from; to < events.length; to += 1) {
          expectEqual(
            await storedEvents(persistence, 's', { from, to }),
            events.slice(from, to + 1),
            `from ${from} to ${to}`,
          )
        }
      }
    },
  },
  2: {
    title: 'Without `from` a read begins at 0, without `to` it ends at the last event.',
    why: 'The defaults are what most callers use.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1), turnEvents(2)])
      expectEqual(await storedEvents(persistence, 's'), events, 'the whole log')
      expectEqual(await storedEvents(persistence, 's', { from: 7 }), events.slice(7), 'from 7')
      expectEqual(await storedEvents(persistence, 's', { to: 7 }), events.slice(0, 8), 'to 7')
    },
  },
  3: {
    title: 'Reverse yields the same range newest first.',
    why: 'The last messages are what a user sees first.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1), turnEvents(2), turnEvents(3)])
      expectEqual(await storedEvents(persistence, 's', { reverse: true }), events.toReversed(), 'the whole log')
      const range = { from: 5, to: 30, reverse: true }
      expectEqual(await storedEvents(persistence, 's', range), events.slice(5, 31).toReversed(), 'from 5 to 30')
    },
  },
  4: {
    title: 'A range past the end, or an empty one, yields nothing.',
    why: 'A poller asks for what is not there yet.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1)])
      expectEqual(await storedEvents(persistence, 's', { from: events.length }), [], 'from the end')
      expectEqual(await storedEvents(persistence, 's', { from: 10_000 }), [], 'from 10,000')
      expectEqual(await storedEvents(persistence, 's', { to: 10_000 }), events, 'to 10,000')
      expectEqual(await storedEvents(persistence, 's', { from: 10_000, reverse: true }), [], 'reverse from 10,000')
    },
  },
  5: {
    title: 'Reading, inspecting, verifying or resuming a session that is not there is NOT_FOUND.',
    why: 'An empty answer would be taken for an empty conversation.',
    run: async (context) => {
      const persistence = await context.open()
      await expectRefusal(() => storedEvents(persistence, 'missing'), 'NOT_FOUND', 'read')
      await expectRefusal(() => persistence.inspect('missing'), 'NOT_FOUND', 'inspect')
      await expectRefusal(() => persistence.verify('missing'), 'NOT_FOUND', 'verify')
      await expectRefusal(() => persistence.resume('missing'), 'NOT_FOUND', 'resume')
      await expectRefusal(() => collect(persistence.follow('missing')), 'NOT_FOUND', 'follow')
      expectEqual((await persistence.list()).sessions, [], 'sessions after asking for one that is not there')
    },
  },
  6: {
    title: 'A bound that is not an integer from 0 is INVALID_ARGUMENT.',
    why: 'A negative bound that means something on one backend and nothing on another is a trap.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      for (const bound of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await expectRefusal(() => storedEvents(persistence, 's', { from: bound }), 'INVALID_ARGUMENT', `from ${bound}`)
        await expectRefusal(() => storedEvents(persistence, 's', { to: bound }), 'INVALID_ARGUMENT', `to ${bound}`)
      }
    },
  },
  7: {
    title: 'Leaving a read early releases what it holds: the session can be resumed and deleted.',
    why: 'A leaked handle or read transaction blocks everybody else.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [conversation(20)])
      for await (const event of persistence.read('s')) if (event.seq === 3) break
      const session = await persistence.resume('s')
      for await (const event of session.read()) if (event.seq === 3) break
      await session.close()
      expectEqual(await persistence.delete('s'), true, 'delete after reads that ended early')
    },
  },
})
