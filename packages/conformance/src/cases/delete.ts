import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal } from '../expectation.ts'
import { appendEach, storedEvents, storeSession } from '../stored-events.ts'
import { turnEvents } from '../workload.ts'

export const DELETE_CASES: readonly ConformanceCase[] = casesOf('DELETE', {
  1: {
    title: 'Delete says whether something was there, and is idempotent.',
    why: 'A retried delete is not a failure.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      expectEqual(await persistence.delete('s'), true, 'first delete')
      expectEqual(await persistence.delete('s'), false, 'second delete')
      expectEqual(await persistence.delete('never'), false, 'delete of what never was')
    },
  },
  2: {
    title: 'A deleted session is gone for every call and every handle.',
    why: 'A user who deletes a conversation means it.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      await persistence.delete('s')
      for (const handle of [persistence, await context.open()]) {
        await expectRefusal(() => storedEvents(handle, 's'), 'NOT_FOUND', 'read')
        await expectRefusal(() => handle.inspect('s'), 'NOT_FOUND', 'inspect')
        await expectRefusal(() => handle.resume('s'), 'NOT_FOUND', 'resume')
        expectEqual((await handle.list()).sessions, [], 'list')
      }
    },
  },
  3: {
    title: 'The id of a deleted session can be created again and holds nothing of the old one.',
    why: 'Ids given by a harness come back.',
    run: async (context) => {
      const persistence = await context.open()
      const old = await persistence.create({ id: 's', labels: { old: 'yes' } })
      appendEach(old, [...turnEvents(1), { type: 'session/title', data: { title: 'old' } }])
      await old.close()
      await persistence.delete('s')
      const events = await storeSession(persistence, 's', [turnEvents(1).slice(0, 3)])
      expectEqual(await storedEvents(persistence, 's'), events, 'events of the new session')
      const [summary] = (await persistence.list()).sessions
      expectEqual([summary?.title, summary?.labels ?? {}, summary?.turns], [undefined, {}, 1], 'title, labels, turns')
    },
  },
  4: {
    title: 'Delete is refused with LOCKED while a writer is open, and nothing of the session is lost.',
    why: 'A conversation must not vanish under the agent that holds it.',
    run: async (context) => {
      const [writer, other] = [await context.open(), await context.open()]
      const session = await writer.create({ id: 's' })
      const events = [...appendEach(session, turnEvents(1))]
      await session.flush()
      await expectRefusal(() => other.delete('s'), 'LOCKED', 'delete through another handle')
      await expectRefusal(() => writer.delete('s'), 'LOCKED', 'delete through the same handle')
      events.push(...appendEach(session, turnEvents(2)))
      await session.close()
      expectEqual(await storedEvents(other, 's'), events, 'events after refused deletes')
      expectEqual(await other.delete('s'), true, 'delete after close')
    },
  },
  5: {
    title: 'Deleting one session leaves every other as it was.',
    why: 'Cleaning up by prefix has removed the wrong sessions before.',
    run: async (context) => {
      const persistence = await context.open()
      const ids = ['s', 's1', 'S', 's.', 'other']
      const kept = new Map<string, unknown>()
      for (const id of ids) kept.set(id, await storeSession(persistence, id, [turnEvents(1)]))
      await persistence.delete('s')
      for (const id of ids.slice(1)) expectEqual(await storedEvents(persistence, id), kept.get(id), `events of ${id}`)
    },
  },
  6: {
    title: 'Delete leaves no file of the session: no lock, no temporary or side file, no snapshot.',
    why: 'What stays behind is what the user wanted gone.',
    needs: { tier: 'medium' },
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 'kept', [turnEvents(1)])
      await persistence.close()
      const before = [...(await context.medium.files())].sort()
      const again = await context.open()
      await storeSession(again, 's', [turnEvents(1), turnEvents(2)])
      await (await again.resume('s')).close()
      await again.delete('s')
      await again.close()
      expectEqual([...(await context.medium.files())].sort(), before, 'files after delete')
    },
  },
})
