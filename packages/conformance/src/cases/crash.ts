import type { AnySessionEvent } from '@session-persistence/core'
import type { CaseContext, ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectSameValue, expectThat } from '../expectation.ts'
import { appendEach, contentOf, receiptOf, storedEvents, withoutResumed } from '../stored-events.ts'
import type { WorkerTask } from '../worker-process.ts'
import {
  conversation,
  EVENTS_PER_TURN,
  INTERRUPTED_AFTER_RESULT,
  INTERRUPTED_CONTEXT,
  plainMessage,
  turnEvents,
} from '../workload.ts'

const SURVIVES = { tier: 'process', capabilities: { durability: ['process', 'power'] }, timeoutMs: 60_000 } as const

export const CRASH_CASES: readonly ConformanceCase[] = casesOf('CRASH', {
  1: {
    title:
      'After SIGKILL at any acknowledgement: everything acknowledged is there, in order, and nothing that was not submitted.',
    why: 'It is the promise of flush, for the death of a process.',
    needs: SURVIVES,
    run: async (context) => {
      const submitted = conversation(2).map(contentOf)
      const kills = context.effort === 'full' ? Array.from({ length: 2 * EVENTS_PER_TURN }, (_, k) => k + 1) : [2, 11]
      for (const k of kills) {
        const id = `killed-${k}`
        const acknowledged = await killAt(context, { kind: 'write', id, turns: 2 }, k)
        const persistence = await context.open()
        const found = (await storedEvents(persistence, id)).map(contentOf)
        expectThat(found.length >= acknowledged, `${acknowledged} acknowledged, ${found.length} found after kill ${k}`)
        expectEqual(found, submitted.slice(0, found.length), `events found after kill ${k}`)
        await persistence.close()
      }
    },
  },
  2: {
    title: 'Two independent reopenings after a kill agree, in another process and in this one.',
    why: 'What was found once must be found again.',
    needs: SURVIVES,
    run: async (context) => {
      await killAt(context, { kind: 'write', id: 's', turns: 2 }, 9)
      const reader = context.spawn({ kind: 'read', id: 's' })
      const line = await reader.next()
      await reader.finish()
      expectThat(line?.kind === 'events', `the reader said ${JSON.stringify(line)}`)
      const persistence = await context.open()
      expectEqual(await storedEvents(persistence, 's'), line.events, 'events of the second reopening')
    },
  },
  3: {
    title: 'A killed session resumes, closes what was open once, and goes on with contiguous seqs.',
    why: 'A crash costs one unfinished turn, not the session.',
    needs: SURVIVES,
    run: async (context) => {
      for (const k of context.effort === 'full' ? [2, 4, 6, 10, 14, 17] : [6]) {
        const id = `resumed-${k}`
        const acknowledged = await killAt(context, { kind: 'write', id, turns: 2 }, k)
        const persistence = await context.open()
        const session = await persistence.resume(id)
        expectEqual([session.openTurn, session.openCalls()], [undefined, []], `open turn after kill ${k}`)
        expectThat((session.recovery?.survived ?? 0) >= acknowledged, `the recovery after kill ${k} lost events`)
        const turn = session.summary().turns + 1
        const added = appendEach(session, turnEvents(turn))
        await session.close()
        const after = await storedEvents(persistence, id)
        expectEqual(
          after.map(({ seq }) => seq),
          after.map((_, seq) => seq),
          `seqs after kill ${k}`,
        )
        expectEqual(withoutResumed(after).slice(-EVENTS_PER_TURN), added, `turn added after kill ${k}`)
        await persistence.close()
      }
    },
  },
  4: {
    title: 'A call that was begun never looks `not-started` after a kill, nor safe to retry unless it was declared so.',
    why: 'Running a side effect a second time is the one damage that no log repairs.',
    needs: SURVIVES,
    run: async (context) => {
      await killAt(context, { kind: 'begin-call', id: 's' }, 1)
      const session = await (await context.open()).resume('s', { openTurn: 'keep' })
      expectEqual(
        session.openCalls().map(({ callId, tier }) => [callId, tier]),
        [['w1', 'outcome-unknown']],
        'open calls and tiers',
      )
    },
  },
  5: {
    title:
      'Interrupted after a result, across processes: one event is added, three messages survive, turn 2 completes.',
    why: 'The walk-through of the documentation, with a real kill.',
    needs: SURVIVES,
    run: async (context) => {
      await killAt(context, { kind: 'interrupted', id: 's' }, 1)
      const persistence = await context.open()
      const before = await storedEvents(persistence, 's')
      expectEqual(before.map(contentOf), INTERRUPTED_AFTER_RESULT.map(contentOf), 'events that survived')
      const session = await persistence.resume('s')
      expectEqual(
        session.recovery?.closed.map(contentOf),
        [{ type: 'turn/end', data: { turn: 1, reason: { kind: 'interrupted' } } }],
        'events added',
      )
      expectSameValue(session.modelContext(), INTERRUPTED_CONTEXT, 'model context')
      appendEach(session, turnEvents(2))
      await session.close()
      const after = await storedEvents(persistence, 's')
      const again = await persistence.resume('s')
      await again.close()
      expectEqual([again.recovery?.closed, await storedEvents(persistence, 's')], [[], after], 'a second resume')
    },
  },
  6: {
    title:
      'Parallel worlds, across processes: two turns restored, a third on the parent, a fork that shares exactly two.',
    why: 'The second walk-through of the documentation, with a real kill.',
    needs: SURVIVES,
    run: async (context) => {
      const total = 2 * EVENTS_PER_TURN
      const acknowledged = await killAt(context, { kind: 'write', id: 'parent', turns: 2 }, total)
      expectEqual(acknowledged, total, 'events acknowledged')
      const persistence = await context.open()
      const restored = await storedEvents(persistence, 'parent')
      expectEqual(restored.map(contentOf), conversation(2).map(contentOf), 'the restored log')
      const parent = await persistence.resume('parent')
      const third = appendEach(parent, turnEvents(3))
      await parent.close()
      const ofParent = await storedEvents(persistence, 'parent')
      const child = await persistence.fork('parent', { at: total - 1, id: 'child' })
      const own = appendEach(child, [{ type: 'user/message', data: { message: plainMessage('user', 'elsewhere') } }])
      await child.close()
      const ofChild: readonly AnySessionEvent[] = await storedEvents(persistence, 'child')
      expectEqual(ofChild.slice(0, total), restored, 'what the child shares')
      expectEqual(ofChild.slice(total + 1), own, 'what only the child has')
      expectEqual(await storedEvents(persistence, 'parent'), ofParent, 'the parent after the fork')
      expectEqual(withoutResumed(ofParent).slice(-EVENTS_PER_TURN), third, 'the third turn')
    },
  },
  7: {
    title: 'A kill before the first flush leaves nothing, or a whole prefix of what was accepted.',
    why: 'Half a session would break the list of all others.',
    needs: SURVIVES,
    run: async (context) => {
      for (let round = 0; round < 3; round += 1) {
        const id = `accepted-${round}`
        await killAt(context, { kind: 'accept', id, turns: 2 }, 1)
        const persistence = await context.open()
        const listed = (await persistence.list()).sessions.filter((summary) => summary.id === id)
        for (const { state } of listed) expectThat(state !== 'damaged', 'a damaged session is listed')
        const found = listed.length === 0 ? [] : (await storedEvents(persistence, id)).map(contentOf)
        expectEqual(found, conversation(2).map(contentOf).slice(0, found.length), 'events found')
        if (listed.length > 0) await (await persistence.resume(id)).close()
        else await (await persistence.create({ id })).close()
        await persistence.close()
      }
    },
  },
  8: {
    title: 'The receipt of an acknowledged flush is accepted by resume and verify after a kill.',
    why: 'A harness that keeps receipts must not be told that a sound log is corrupt.',
    needs: SURVIVES,
    run: async (context) => {
      const acknowledged = await killAt(context, { kind: 'write', id: 's', turns: 1 }, 7)
      const persistence = await context.open()
      const expectHead = receiptOf((await storedEvents(persistence, 's')).slice(0, acknowledged))
      expectThat(expectHead !== undefined, 'nothing was acknowledged')
      expectThat((await persistence.verify('s', { expectHead })).ok, 'verify did not accept the receipt')
      await (await persistence.resume('s', { expectHead })).close()
    },
  },
})

/** Kills the worker at its k-th acknowledgement; how many events it had acknowledged by then. */
async function killAt(context: CaseContext, task: WorkerTask, k: number): Promise<number> {
  const worker = context.spawn(task)
  for (let count = 0; count < k; count += 1) {
    const line = await worker.next()
    expectThat(line?.kind === 'ack', `the writer said ${JSON.stringify(line)} instead of acknowledgement ${count + 1}`)
  }
  await worker.kill()
  // What was in the pipe when the kill came was acknowledged as well.
  const acks = worker.lines.flatMap((line) => (line.kind === 'ack' ? [line.nextSeq] : []))
  return task.kind === 'accept' ? 0 : Math.max(...acks)
}
