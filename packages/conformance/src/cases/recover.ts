import type { AnySessionEvent, OpenCall } from '@session-persistence/core'
import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectSameValue, expectThat, rejectionOf } from '../expectation.ts'
import { appendEach, contentOf, storedEvents, storeSession, withoutResumed } from '../stored-events.ts'
import { INTERRUPTED_AFTER_RESULT, INTERRUPTED_CONTEXT, plainMessage, turnEvents } from '../workload.ts'
import { FOUR_OPEN_CALLS, FOUR_TIERS, HALF_AN_ANSWER, leaveUnfinished } from './close.ts'

export const RECOVER_CASES: readonly ConformanceCase[] = casesOf('RECOVER', {
  1: {
    title:
      'A log that ends after a tool’s result gets exactly one event, `turn/end` interrupted; messages and context survive.',
    why: 'It is the most frequent crash, and it must cost nothing.',
    run: async (context) => {
      const first = await context.open()
      const events = await storeSession(
        first,
        's',
        INTERRUPTED_AFTER_RESULT.map((event) => [event]),
      )
      await first.close()
      const persistence = await context.open()
      const session = await persistence.resume('s')
      const stored = await storedEvents(persistence, 's')
      expectEqual(stored.slice(0, events.length), events, 'events that survived')
      const closers = stored.slice(events.length)
      expectEqual(
        closers.map(contentOf),
        [{ type: 'turn/end', data: { turn: 1, reason: { kind: 'interrupted' } } }],
        'events added',
      )
      expectSameValue(session.modelContext(), INTERRUPTED_CONTEXT, 'model context')
      const second = appendEach(session, turnEvents(2))
      await session.close()
      const after = await storedEvents(persistence, 's')
      expectEqual(
        after.map(({ seq }) => seq),
        after.map((_, seq) => seq),
        'seqs after turn 2',
      )
      expectEqual(withoutResumed(after).slice(-second.length), second, 'turn 2')
      await (await persistence.resume('s')).close()
      expectEqual(await storedEvents(persistence, 's'), after, 'events after a second resume')
    },
  },
  2: {
    title: 'A resume that keeps the turn adds nothing; the turn can be continued and ended.',
    why: 'A harness that waits for an approval resumes to go on, not to give up.',
    run: async (context) => {
      const persistence = await context.open()
      await leaveUnfinished(await persistence.create({ id: 's' }), INTERRUPTED_AFTER_RESULT)
      const before = await storedEvents(persistence, 's')
      const session = await persistence.resume('s', { openTurn: 'keep' })
      expectEqual(await storedEvents(persistence, 's'), before, 'events after the resume')
      expectEqual([session.openTurn, session.recovery?.closed], [{ turn: 1 }, []], 'open turn and closers')
      session.append('turn/end', { turn: 1, reason: { kind: 'completed' } })
      await session.close()
      const last = (await storedEvents(persistence, 's')).at(-1)
      expectEqual(last?.data, { turn: 1, reason: { kind: 'completed' } }, 'last event')
    },
  },
  3: {
    title: 'Resuming a second time adds nothing.',
    why: 'A recovery that repeats itself grows the log at every start.',
    run: async (context) => {
      const persistence = await context.open()
      for (const [id, events] of Object.entries({ FOUR_OPEN_CALLS, HALF_AN_ANSWER })) {
        await leaveUnfinished(await persistence.create({ id }), events)
        await (await persistence.resume(id)).close()
        const once = await storedEvents(persistence, id)
        const again = await (await context.open()).resume(id)
        expectEqual([again.recovery?.closed, again.recovery?.openTurn], [[], undefined], 'second recovery')
        await again.close()
        expectEqual(await storedEvents(persistence, id), once, 'events after a second resume')
      }
    },
  },
  4: {
    title:
      'The recovery report says what survived, which turn and calls were open with their tiers, and what was added.',
    why: 'The user must be told what happened, not just find it repaired.',
    run: async (context) => {
      const persistence = await context.open()
      await leaveUnfinished(await persistence.create({ id: 's' }), FOUR_OPEN_CALLS)
      const session = await persistence.resume('s')
      const { recovery } = session
      expectEqual([recovery?.survived, recovery?.openTurn], [8, { turn: 1, step: 1 }], 'survived and open turn')
      expectEqual(
        recovery?.openCalls.map(({ callId, tier }) => [callId, tier]),
        FOUR_TIERS,
        'open calls with tiers',
      )
      const stored = await storedEvents(persistence, 's')
      expectEqual(recovery?.closed, stored.slice(8), 'events closed')
      const last: AnySessionEvent | undefined = stored.at(-1)
      expectEqual(last?.data, { turn: 1, reason: { kind: 'interrupted' } }, 'last event')
    },
  },
  5: {
    title: 'Inspect shows the same recovery without committing it.',
    why: 'Looking at a crashed session must not decide anything about it.',
    run: async (context) => {
      const persistence = await context.open()
      await leaveUnfinished(await persistence.create({ id: 's' }), FOUR_OPEN_CALLS)
      const before = await storedEvents(persistence, 's')
      const view = await persistence.inspect('s')
      expectEqual(
        view.openCalls().map(({ callId, tier }) => [callId, tier]),
        FOUR_TIERS,
        'open calls of the view',
      )
      expectEqual([view.openTurn, view.nextSeq], [{ turn: 1, step: 1 }, 8], 'open turn and nextSeq of the view')
      expectEqual(await storedEvents(persistence, 's'), before, 'events after inspect')
      const session = await persistence.resume('s')
      expectEqual(view.recovery.closed, session.recovery?.closed, 'closers that the view foretold')
    },
  },
  6: {
    title: 'Closers written by recovery carry the time of the last real event.',
    why: 'A session found a year later did not end a year later.',
    run: async (context) => {
      let now = 1000
      const persistence = await context.open({ clock: () => now })
      await leaveUnfinished(await persistence.create({ id: 's' }), FOUR_OPEN_CALLS)
      now = 99_000
      await (await persistence.resume('s')).close()
      const times = (await storedEvents(persistence, 's')).map(({ time }) => time)
      expectEqual(
        times,
        times.map(() => 1000),
        'times',
      )
      expectEqual((await persistence.list()).sessions[0]?.updatedAt, 1000, 'updatedAt')
    },
  },
  7: {
    title: '`reconcile` is offered every open call that was begun, and no other; what it returns is the result.',
    why: 'Only the harness can ask the outside world what became of a call.',
    run: async (context) => {
      const persistence = await context.open()
      await leaveUnfinished(await persistence.create({ id: 's' }), FOUR_OPEN_CALLS)
      const offered: OpenCall[] = []
      const session = await persistence.resume('s', {
        reconcile: async (call) => {
          offered.push(call)
          return call.callId === 'asks' ? { message: plainMessage('tool', 'job 7 is done') } : undefined
        },
      })
      expectEqual(
        offered.map(({ callId, externalId }) => [callId, externalId]).sort(),
        [
          ['asks', 'job-7'],
          ['reads', undefined],
          ['writes', undefined],
        ],
        'calls offered',
      )
      const results = (session.recovery?.closed ?? []).filter(({ type }) => type === 'tool/result')
      const real = results.filter(({ data }) => !Object.hasOwn(data as object, 'synthetic'))
      expectEqual(
        real.map(({ data }) => data),
        [{ turn: 1, step: 1, callId: 'asks', message: plainMessage('tool', 'job 7 is done') }],
        'real results',
      )
      expectEqual(results.length, 4, 'results')
    },
  },
  8: {
    title: 'A `reconcile` that throws aborts the resume: nothing is written, and the session can be resumed again.',
    why: 'An unreachable service must not turn into a guess.',
    run: async (context) => {
      const persistence = await context.open()
      await leaveUnfinished(await persistence.create({ id: 's' }), FOUR_OPEN_CALLS)
      const before = await storedEvents(persistence, 's')
      const reason = new Error('service unreachable')
      const reconcile = async (): Promise<never> => {
        throw reason
      }
      const error = await rejectionOf(() => persistence.resume('s', { reconcile }), 'a resume whose reconcile throws')
      expectThat(error === reason || (error as Error).cause === reason, 'the reason did not reach the caller')
      expectEqual(await storedEvents(persistence, 's'), before, 'events after the failed resume')
      const session = await persistence.resume('s', { openTurn: 'keep' })
      expectEqual(session.openCalls().length, 4, 'open calls of a later resume')
    },
  },
})
