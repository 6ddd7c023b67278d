import type { Session, SessionPersistence } from '@session-persistence/core'
import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { appendEach, collect, storedEvents, storeSession } from '../stored-events.ts'
import { plainMessage, turnEvents } from '../workload.ts'

export const LIFE_CASES: readonly ConformanceCase[] = casesOf('LIFE', {
  1: {
    title: 'What was flushed and closed is there, event for event, when the medium is opened again.',
    why: 'It is what a store is for.',
    run: async (context) => {
      const first = await context.open()
      const events = await storeSession(first, 's', [turnEvents(1), turnEvents(2)])
      await first.close()
      const again = await context.open()
      expectEqual(await storedEvents(again, 's'), events, 'events after reopening')
    },
  },
  2: {
    title: 'Closing a session twice resolves.',
    why: 'Shutdown paths overlap: a signal handler and a `finally` both close.',
    run: async (context) => {
      const session = await (await context.open()).create({ id: 's' })
      appendEach(session, turnEvents(1))
      await session.close()
      await session.close()
      const unused = await (await context.open()).create({ id: 'unused' })
      await Promise.all([unused.close(), unused.close()])
    },
  },
  3: {
    title: 'Closing a persistence twice resolves.',
    why: 'Shutdown paths overlap.',
    run: async (context) => {
      const persistence = await context.open()
      await Promise.all([persistence.close(), persistence.close()])
      await persistence.close()
    },
  },
  4: {
    title: 'A closed session refuses append, appendAll and flush with CLOSED, and stores nothing more.',
    why: 'An event accepted after close would be lost without a word.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const events = appendEach(session, turnEvents(1))
      await session.close()
      await expectRefusal(() => appendEach(session, turnEvents(2)), 'CLOSED', 'append after close')
      await expectRefusal(() => session.appendAll(turnEvents(2)), 'CLOSED', 'appendAll after close')
      await expectRefusal(() => session.flush(), 'CLOSED', 'flush after close')
      expectEqual(await storedEvents(persistence, 's'), events, 'events after close')
    },
  },
  5: {
    title: 'A closed persistence refuses every call with CLOSED.',
    why: 'A call after shutdown must not open the medium again behind its owner.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      await persistence.close()
      for (const [name, call] of callsOf(persistence)) await expectRefusal(call, 'CLOSED', `${name} after close`)
    },
  },
  6: {
    title: 'A created session that is closed or abandoned with nothing appended leaves nothing.',
    why: 'Every cancelled start would otherwise fill the list with empty sessions.',
    run: async (context) => {
      const persistence = await context.open()
      const closed = await persistence.create({ id: 'closed' })
      expectEqual((await persistence.list()).sessions, [], 'list before the first flush')
      await expectRefusal(() => storedEvents(persistence, 'closed'), 'NOT_FOUND', 'read before the first flush')
      await closed.close()
      const abandoned = await persistence.create({ id: 'abandoned' })
      await abandoned.abandon()
      expectEqual((await persistence.list()).sessions, [], 'list after close and abandon')
      await expectRefusal(() => persistence.inspect('closed'), 'NOT_FOUND', 'inspect of what was never flushed')
    },
  },
  7: {
    title: 'Two handles on one medium see what the other made durable.',
    why: 'A user interface and an agent open the same store.',
    run: async (context) => {
      const [writer, reader] = [await context.open(), await context.open()]
      const session = await writer.create({ id: 's' })
      const first = appendEach(session, turnEvents(1))
      await session.flush()
      expectEqual(await storedEvents(reader, 's'), first, 'events seen through the second handle')
      const second = appendEach(session, turnEvents(2))
      await session.flush()
      expectEqual(await storedEvents(reader, 's'), [...first, ...second], 'events seen after a second flush')
    },
  },
  8: {
    title: 'Disposing of a session (`await using`) flushes and releases it.',
    why: 'The documented way to hold a session must not lose its last events.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const events = appendEach(session, turnEvents(1))
      await session[Symbol.asyncDispose]()
      expectEqual(await storedEvents(persistence, 's'), events, 'events after disposal')
      await (await persistence.resume('s')).close()
    },
  },
  9: {
    title: 'Closing a persistence flushes and releases every session that it opened.',
    why: 'A harness shuts down with one call; the final answer must be stored.',
    run: async (context) => {
      const persistence = await context.open()
      const sessions: Session[] = []
      for (const id of ['a', 'b', 'c']) {
        const session = await persistence.create({ id })
        appendEach(session, turnEvents(1))
        sessions.push(session)
      }
      await persistence.close()
      const again = await context.open()
      for (const { id } of sessions) {
        expectThat((await storedEvents(again, id)).length === turnEvents(1).length, `session ${id} was not flushed`)
        await (await again.resume(id)).close()
      }
    },
  },
  10: {
    title: 'Abandoning a session releases it, returns the events that were not durable, and stores none of them.',
    why: 'A harness that cannot store must be able to let go and keep its events.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const durable = appendEach(session, turnEvents(1))
      await session.flush()
      const pending = appendEach(session, turnEvents(2))
      expectEqual(await session.abandon(), pending, 'events returned by abandon')
      expectEqual(await storedEvents(persistence, 's'), durable, 'events stored')
      await (await persistence.resume('s')).close()
    },
  },
})

/** Every call of a persistence, on a session that exists. */
function callsOf(persistence: SessionPersistence): readonly (readonly [string, () => unknown])[] {
  return [
    ['create', () => persistence.create({ id: 'new' })],
    ['resume', () => persistence.resume('s')],
    ['fork', () => persistence.fork('s')],
    ['inspect', () => persistence.inspect('s')],
    ['read', () => storedEvents(persistence, 's')],
    ['follow', () => collect(persistence.follow('s'))],
    ['list', () => persistence.list()],
    ['annotate', () => persistence.annotate('s', { title: plainMessage.name })],
    ['verify', () => persistence.verify('s')],
    ['delete', () => persistence.delete('s')],
  ]
}
