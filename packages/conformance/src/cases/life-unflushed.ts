import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal } from '../expectation.ts'
import { appendEach, storedEvents } from '../stored-events.ts'
import { turnEvents } from '../workload.ts'

/** A session between its creation and its first flush: nothing of it is stored, and its writer holds the id. */
export const LIFE_UNFLUSHED_CASES: readonly ConformanceCase[] = casesOf('LIFE', {
  15: {
    title:
      'A created session that is not flushed yet is seen by nobody: not listed, NOT_FOUND for read, inspect, verify, export and resume, and through other handles for annotate and fork.',
    why: 'Whether a session exists must not depend on the call that asks, and nothing is stored that could be resumed.',
    run: async (context) => {
      const [writer, other] = [await context.open(), await context.open()]
      const session = await writer.create({ id: 's' })
      const events = appendEach(session, turnEvents(1))
      for (const [name, handle] of [
        ['the same handle', writer],
        ['another handle', other],
      ] as const) {
        expectEqual((await handle.list()).sessions, [], `list through ${name}`)
        const calls: readonly (readonly [string, () => unknown])[] = [
          ['read', () => storedEvents(handle, 's')],
          ['inspect', () => handle.inspect('s')],
          ['verify', () => handle.verify('s')],
          ['exportLog', () => handle.exportLog('s')],
          ['resume', () => handle.resume('s')],
        ]
        for (const [call, ask] of calls) await expectRefusal(ask, 'NOT_FOUND', `${call} through ${name}`)
      }
      // Its own handle has the live session to annotate and to fork.
      await expectRefusal(() => other.annotate('s', { title: 'x' }), 'NOT_FOUND', 'annotate through another handle')
      await expectRefusal(() => other.fork('s', { id: 'child' }), 'NOT_FOUND', 'fork through another handle')
      await session.close()
      expectEqual(await storedEvents(other, 's'), events, 'events after close')
    },
  },
})

export const DELETE_UNFLUSHED_CASES: readonly ConformanceCase[] = casesOf('DELETE', {
  7: {
    title: 'Delete of a created session that is not flushed yet is LOCKED, and what its writer flushes is stored.',
    why: 'An answer that nothing is there would be wrong a moment later, and the session that was to go would be there.',
    run: async (context) => {
      const [writer, other] = [await context.open(), await context.open()]
      const session = await writer.create({ id: 's' })
      const events = appendEach(session, turnEvents(1))
      await expectRefusal(() => other.delete('s'), 'LOCKED', 'delete through another handle')
      await expectRefusal(() => writer.delete('s'), 'LOCKED', 'delete through the same handle')
      await session.close()
      expectEqual(await storedEvents(other, 's'), events, 'events after close')
      expectEqual(await other.delete('s'), true, 'delete after close')
    },
  },
})
