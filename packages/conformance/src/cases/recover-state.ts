import type { AnySessionEvent } from '@session-persistence/core'
import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectSameValue, expectThat, rejectionOf } from '../expectation.ts'
import { filesOf } from '../medium-files.ts'
import { appendEach, storedEvents, storeSession, withoutResumed } from '../stored-events.ts'
import { conversation, plainMessage, turnEvents } from '../workload.ts'
import { FOUR_OPEN_CALLS, leaveUnfinished } from './close.ts'

export const RECOVER_STATE_CASES: readonly ConformanceCase[] = casesOf('RECOVER', {
  9: {
    title:
      'Two stored turns: a third sees the whole history, a fork shares exactly the two, and both go their own way.',
    why: 'It is what branching a conversation means.',
    run: async (context) => {
      const first = await context.open()
      const events = await storeSession(first, 'parent', [turnEvents(1), turnEvents(2)])
      await first.close()
      const persistence = await context.open()
      const parent = await persistence.resume('parent')
      expectEqual(await storedEvents(persistence, 'parent'), events, 'the restored log')
      const texts = JSON.stringify(parent.modelContext().messages)
      expectThat(texts.includes('question 1') && texts.includes('answer 2'), 'the third turn does not see the history')
      const child = await persistence.fork('parent', { at: events.length - 1, id: 'child' })
      const parentTurn = appendEach(parent, turnEvents(3))
      const childTurn = appendEach(child, [
        { type: 'turn/start', data: { turn: 3 } },
        { type: 'user/message', data: { turn: 3, message: plainMessage('user', 'another question') } },
      ])
      await parent.close()
      await child.close()
      const [ofParent, ofChild] = [await storedEvents(persistence, 'parent'), await storedEvents(persistence, 'child')]
      expectEqual(ofChild.slice(0, events.length), ofParent.slice(0, events.length), 'the shared turns')
      expectEqual(withoutResumed(ofParent).slice(events.length), parentTurn, 'what only the parent has')
      expectEqual(ofChild.slice(events.length + 1), childTurn, 'what only the child has')
    },
  },
  10: {
    title:
      'State after a resume equals the state folded from the whole log: messages, usage, summary, registered projections.',
    why: 'A snapshot that is trusted too far shows a conversation that never was.',
    run: async (context) => {
      const types = {
        name: 'types',
        version: 1,
        chunks: true,
        initial: (): readonly string[] => [],
        apply: (state: readonly string[], event: AnySessionEvent) => [...state, event.type],
      }
      const persistence = await context.open({ projections: [types] })
      const session = await persistence.create({ id: 's' })
      for (let turn = 1; turn <= 30; turn += 1) {
        appendEach(session, turnEvents(turn))
        if (turn % 10 === 0) await session.flush()
      }
      session.append('session/title', { title: 'thirty turns' })
      const live = [session.messages(), session.usage(), session.summary(), session.state(types)]
      await session.close()
      const again = await context.open({ projections: [types] })
      const resumed = await again.resume('s')
      expectSameValue(
        [resumed.messages(), resumed.usage(), resumed.summary(), resumed.state(types)],
        live,
        'state after the resume',
      )
      expectEqual(
        (await storedEvents(again, 's')).map(({ type }) => type),
        live[3],
        'types stored',
      )
    },
  },
  11: {
    title: 'A resume that is refused or aborted releases the session and writes nothing.',
    why: 'A failed start must not lock the user out.',
    run: async (context) => {
      const persistence = await context.open()
      await leaveUnfinished(await persistence.create({ id: 's' }), FOUR_OPEN_CALLS)
      const before = await storedEvents(persistence, 's')
      const reason = new Error('the user left')
      const error = await rejectionOf(() => persistence.resume('s', { signal: AbortSignal.abort(reason) }), 'aborted')
      expectThat(error === reason, 'the resume did not reject with the reason of the signal')
      const expectHead = { seq: 3, crc: '00000000' }
      await expectRefusal(() => persistence.resume('s', { expectHead }), 'CORRUPT', 'a resume with a wrong head')
      expectEqual(await storedEvents(persistence, 's'), before, 'events after refused resumes')
      await (await persistence.resume('s')).close()
    },
  },
  12: {
    title: 'A replacement and a removal survive a resume: the model sees the surface, the log keeps the history.',
    why: 'Compaction must shorten what is sent, never what is stored.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const original = appendEach(session, conversation(2))
      const live = session.surface()
      const [from, to] = [live[0]?.seq ?? -1, live[3]?.seq ?? -1]
      const summary = plainMessage('user', 'summary of turn 1')
      session.append('user/message', { message: summary }, { surface: { replace: [from, to] }, sources: [[from, to]] })
      const removed = live[4]?.seq ?? -1
      session.append('surface/remove', { start: removed, end: removed })
      const messages = session.messages()
      expectEqual(messages[0], summary, 'first message')
      expectEqual(messages.length, live.length - 4, 'live messages')
      await session.close()
      const resumed = await (await context.open()).resume('s')
      expectEqual(resumed.messages(), messages, 'messages after the resume')
      expectEqual((await storedEvents(persistence, 's')).slice(0, original.length), original, 'history')
    },
  },
  13: {
    title: 'Inspecting a crashed session changes no byte.',
    why: 'Only the lock holder repairs.',
    needs: { tier: 'medium' },
    run: async (context) => {
      const persistence = await context.open()
      await leaveUnfinished(await persistence.create({ id: 's' }), FOUR_OPEN_CALLS)
      await persistence.close()
      const before = await filesOf(context.medium)
      const reader = await context.open()
      await reader.inspect('s')
      await reader.close()
      expectEqual(await filesOf(context.medium), before, 'files after inspect')
    },
  },
})
