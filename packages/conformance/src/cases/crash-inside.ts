import type { AnySessionEvent, SessionPersistence } from '@session-persistence/core'
import type { CaseContext, CaseNeeds, ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { type KillMoment, killInside, killMoments } from '../kill-moment.ts'
import { appendEach, contentOf, storedEvents, storeSession, withoutResumed } from '../stored-events.ts'
import type { WorkerStep } from '../worker-process.ts'
import { conversation, filling, turnEvents } from '../workload.ts'
import { FOUR_OPEN_CALLS, leaveUnfinished } from './close.ts'

const SURVIVES: Partial<CaseNeeds> = {
  tier: 'process',
  capabilities: { durability: ['process', 'power'] },
  timeoutMs: 90_000,
}

/** Turns of a log that takes a while to copy. */
const LONG_TURNS = 60
/** Events of a batch that takes a while to write, and characters of each. */
const LARGE_BATCH = { events: 200, characters: 2_000 } as const

/** A process that dies inside one operation. Each clause is tried at several moments, on a session of its own each. */
export const CRASH_INSIDE_CASES: readonly ConformanceCase[] = casesOf('CRASH', {
  9: {
    title: 'SIGKILL inside a resume: the next resume finds the log sound, and what was open is closed exactly once.',
    why: 'Recovery is the first thing that runs after a crash, and the machine is often still going down.',
    needs: SURVIVES,
    run: async (context) => {
      await atEveryMoment(context, async (persistence, id, moment) => {
        await leaveUnfinished(await persistence.create({ id }), FOUR_OPEN_CALLS)
        const before = await storedEvents(persistence, id)
        await killInside(context, [{ do: 'resume', id }], 0, moment)
        await (await persistence.resume(id)).close()
        const events = await storedEvents(persistence, id)
        expectEqual(events.slice(0, before.length), before, 'the log as it was')
        const types = events.slice(before.length).map(({ type }) => type)
        const results = FOUR_OPEN_CALLS.length - 4
        expectEqual(types.filter((type) => type === 'tool/result').length, results, 'results added for open calls')
        expectEqual(types.filter((type) => type === 'turn/end').length, 1, 'turn/end events added')
      })
    },
  },
  10: {
    title: 'SIGKILL inside a fork: the child is whole or not there, the parent is as it was, and forking again works.',
    why: 'A child with half a history answers as if the rest had never been said.',
    needs: SURVIVES,
    run: async (context) => {
      const parent = await storeSession(await context.open(), 'parent', [conversation(LONG_TURNS)])
      await atEveryMoment(context, async (persistence, child, moment) => {
        await killInside(context, [{ do: 'fork', id: 'parent', child }], 0, moment)
        const found = await eventsOf(persistence, child)
        if (found !== undefined) expectEqual(found.slice(0, -1), parent, 'what the child shares')
        expectEqual(await storedEvents(persistence, 'parent'), parent, 'the parent')
        if (found === undefined) await (await persistence.fork('parent', { id: child })).close()
        expectEqual((await storedEvents(persistence, child)).at(-1)?.type, 'session/forked', 'the end of the child')
      })
    },
  },
  11: {
    title: 'SIGKILL inside a delete: the session is whole or gone, and deleting and creating it again work.',
    why: 'A session that is half deleted is shown as damaged for ever.',
    needs: SURVIVES,
    run: async (context) => {
      await atEveryMoment(context, async (persistence, id, moment) => {
        const events = await storeSession(persistence, id, [turnEvents(1), turnEvents(2)])
        await killInside(context, [{ do: 'delete', id }], 0, moment)
        const found = await eventsOf(persistence, id)
        if (found !== undefined) expectEqual(found, events, 'the session that is still there')
        expectEqual(await persistence.delete(id), found !== undefined, 'whether there was something to delete')
        const again = await storeSession(persistence, id, [turnEvents(1)])
        expectEqual(await storedEvents(persistence, id), again, 'the session created again')
      })
    },
  },
  12: {
    title: 'SIGKILL inside the first flush: the session is there with its whole first batch, or not there.',
    why: 'A session without its first batch has a name and no history.',
    needs: SURVIVES,
    run: async (context) => {
      const steps = (id: string): readonly WorkerStep[] => [
        { do: 'create', id },
        { do: 'fill', id, ...LARGE_BATCH },
        { do: 'flush', id },
      ]
      const batch = filling(LARGE_BATCH.events, LARGE_BATCH.characters).map(contentOf)
      await atEveryMoment(context, async (persistence, id, moment) => {
        await killInside(context, steps(id), 2, moment)
        const found = await eventsOf(persistence, id)
        if (found !== undefined) expectEqual(found.map(contentOf), batch, 'the first batch')
        if (found === undefined) await storeSession(persistence, id, [turnEvents(1)])
      })
    },
  },
  13: {
    title: 'SIGKILL inside a later flush: the batch is there whole or not at all, and everything before it is there.',
    why: 'Half of a group is a compaction that removed and did not replace.',
    needs: SURVIVES,
    run: async (context) => {
      const steps = (id: string): readonly WorkerStep[] => [
        { do: 'resume', id },
        { do: 'fill', id, ...LARGE_BATCH },
        { do: 'flush', id },
      ]
      await atEveryMoment(context, async (persistence, id, moment) => {
        const before = await storeSession(persistence, id, [turnEvents(1)])
        await killInside(context, steps(id), 2, moment)
        const session = await persistence.resume(id)
        const after = withoutResumed(await storedEvents(persistence, id)).slice(before.length)
        if (after.length > 0) expectEqual(after.length, LARGE_BATCH.events, 'events of the batch')
        const added = appendEach(session, turnEvents(2))
        await session.close()
        const events = withoutResumed(await storedEvents(persistence, id))
        expectEqual(events.slice(0, before.length), before, 'what was stored before')
        expectEqual(events.slice(-added.length), added, 'what was added after')
      })
    },
  },
  14: {
    title: 'SIGKILL inside the close of a session of many batches: everything flushed is there.',
    why: 'Closing is where stores tidy up, and where they rewrite what they promised to keep.',
    needs: SURVIVES,
    run: async (context) => {
      const turns = conversation(4)
      const flushed = (id: string): readonly WorkerStep[] =>
        turns.flatMap((event): readonly WorkerStep[] => [
          { do: 'append', id, events: [event] },
          { do: 'flush', id },
        ])
      await atEveryMoment(context, async (persistence, id, moment) => {
        const steps: readonly WorkerStep[] = [{ do: 'create', id }, ...flushed(id), { do: 'close', id }]
        await killInside(context, steps, steps.length - 1, moment)
        expectEqual((await eventsOf(persistence, id))?.map(contentOf), turns.map(contentOf), 'the events flushed')
        await (await persistence.resume(id)).close()
      })
    },
  },
  15: {
    title: 'SIGKILL inside an annotate: the title is there or not, the open turn is still open.',
    why: 'Renaming a session in a list must not end what an agent was doing.',
    needs: SURVIVES,
    run: async (context) => {
      await atEveryMoment(context, async (persistence, id, moment) => {
        const before = await storeSession(persistence, id, [turnEvents(1), turnEvents(2).slice(0, 2)])
        await killInside(context, [{ do: 'annotate', id, title: 'x' }], 0, moment)
        const events = await storedEvents(persistence, id)
        expectEqual(events.slice(0, before.length), before, 'the log as it was')
        for (const { type } of events.slice(before.length)) expectEqual(type, 'session/title', 'what was added')
        expectEqual((await persistence.inspect(id)).openTurn?.turn, 2, 'the open turn')
      })
    },
  },
})

/** One session, with an id of its own, for each moment; and in the end a list in which none is damaged. */
async function atEveryMoment(
  context: CaseContext,
  attempt: (persistence: SessionPersistence, id: string, moment: KillMoment) => Promise<void>,
): Promise<void> {
  for (const moment of killMoments(context)) {
    const persistence = await context.open()
    await attempt(persistence, `${moment.after}-${moment.count}`, moment)
    const damaged = (await persistence.list({ limit: 1000 })).sessions.filter(({ state }) => state === 'damaged')
    expectEqual(damaged.length, 0, 'damaged sessions listed')
    await persistence.close()
  }
}

/** The stored events; undefined where there is no such session, neither for a read nor in the list. */
async function eventsOf(persistence: SessionPersistence, id: string): Promise<readonly AnySessionEvent[] | undefined> {
  const { sessions } = await persistence.list({ limit: 1000 })
  if (sessions.some((summary) => summary.id === id)) return storedEvents(persistence, id)
  const error = await expectRefusal(
    () => storedEvents(persistence, id),
    'NOT_FOUND',
    `read of ${id}, which is not listed`,
  )
  expectThat(error.message !== '', 'the refusal has no message')
  return undefined
}
