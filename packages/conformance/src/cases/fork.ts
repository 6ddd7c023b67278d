import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { appendEach, storedEvents, storeSession, withoutResumed } from '../stored-events.ts'
import { conversation, EVENTS_PER_TURN, turnEvents } from '../workload.ts'

export const FORK_CASES: readonly ConformanceCase[] = casesOf('FORK', {
  1: {
    title:
      '`at` is inclusive, `before` exclusive: the child holds exactly that prefix, event for event, then `session/forked`.',
    why: 'An off-by-one shows the child a message that the user took back.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1), turnEvents(2), turnEvents(3)])
      const end = EVENTS_PER_TURN - 1
      const forks = [
        [{ at: end }, EVENTS_PER_TURN],
        [{ before: end + 1 }, EVENTS_PER_TURN],
        [{ at: 2 * EVENTS_PER_TURN - 1 }, 2 * EVENTS_PER_TURN],
        [{ before: 0 }, 0],
      ] as const
      for (const [position, length] of forks) {
        const child = await persistence.fork('s', position)
        await child.close()
        const stored = await storedEvents(persistence, child.id)
        expectEqual(stored.slice(0, length), events.slice(0, length), `prefix at ${JSON.stringify(position)}`)
        expectEqual(
          stored.slice(length).map(({ type }) => type),
          ['session/forked'],
          `after the prefix of ${length}`,
        )
        const data = stored[length]?.data as { readonly parent?: string; readonly at?: number }
        expectEqual([data.parent, data.at], ['s', length - 1], 'parent and position recorded')
      }
    },
  },
  2: {
    title: 'Without a position a fork takes the newest stable one.',
    why: 'A user who branches in mid-turn means the last finished turn.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1), turnEvents(2).slice(0, 5)])
      const child = await persistence.fork('s')
      await child.close()
      const stored = await storedEvents(persistence, child.id)
      expectEqual(stored.slice(0, -1), events.slice(0, EVENTS_PER_TURN), 'prefix of the child')
      expectEqual(stored.at(-1)?.type, 'session/forked', 'last event of the child')
    },
  },
  3: {
    title: 'A position inside a turn, or outside the log, is INVALID_ARGUMENT, and no child appears.',
    why: 'A child with half a turn would be refused by the provider.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      for (const position of [{ at: 3 }, { before: 6 }, { at: 99 }, { at: -1 }, { at: 1.5 }, { before: -1 }]) {
        const what = `a fork at ${JSON.stringify(position)}`
        await expectRefusal(() => persistence.fork('s', { ...position, id: 'child' }), 'INVALID_ARGUMENT', what)
      }
      expectEqual(
        (await persistence.list()).sessions.map(({ id }) => id),
        ['s'],
        'sessions',
      )
      await expectRefusal(() => persistence.fork('missing'), 'NOT_FOUND', 'a fork of what is not there')
    },
  },
  4: {
    title:
      'The child’s header names it, its parent and the length of the shared prefix, and keeps the message format and cwd.',
    why: 'A child that carries its parent’s id takes its parent’s place.',
    run: async (context) => {
      const persistence = await context.open()
      const parent = await persistence.create({ id: 's', cwd: '/work', messageFormat: 'openai' })
      appendEach(parent, turnEvents(1))
      await parent.close()
      const child = await persistence.fork('s', { id: 'child', labels: { kind: 'branch' }, reason: 'try again' })
      await child.close()
      const { header } = await persistence.inspect('child')
      expectEqual(
        [header.id, header.parent, header.seedLength, header.messageFormat, header.cwd, header.labels],
        ['child', 's', EVENTS_PER_TURN, 'openai', '/work', { kind: 'branch' }],
        'header of the child',
      )
      const forked = (await storedEvents(persistence, 'child')).at(-1)
      expectEqual((forked?.data as { readonly reason?: string } | undefined)?.reason, 'try again', 'reason')
      const generated = await persistence.fork('s')
      expectThat(generated.id !== 's' && generated.id !== 'child', 'a generated id is not new')
    },
  },
  5: {
    title: 'A fork changes nothing of its parent.',
    why: 'The parent may be open elsewhere, and is history.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1), turnEvents(2).slice(0, 4)])
      const child = await persistence.fork('s', { id: 'child' })
      appendEach(child, turnEvents(2))
      await child.close()
      expectEqual(await storedEvents(persistence, 's'), events, 'events of the parent')
      const view = await persistence.inspect('s')
      expectEqual([view.openTurn?.turn, view.nextSeq], [2, events.length], 'open turn of the parent')
    },
  },
  6: {
    title:
      'The child needs nothing of its parent: it survives the parent’s deletion and can be read, resumed and forked.',
    why: 'Deleting a session must not orphan what came of it.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [conversation(2)])
      const child = await persistence.fork('s', { id: 'child' })
      await child.close()
      await persistence.delete('s')
      const again = await context.open()
      expectEqual((await storedEvents(again, 'child')).slice(0, events.length), events, 'events of the child')
      const resumed = await again.resume('child')
      appendEach(resumed, turnEvents(3))
      await resumed.close()
      await (await again.fork('child', { id: 'grandchild' })).close()
      expectEqual((await storedEvents(again, 'grandchild')).slice(0, events.length), events, 'events of the grandchild')
    },
  },
  7: {
    title: 'Forking one’s own open session includes what was accepted, and the session stays open.',
    why: 'Branching from the running conversation is the usual case.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const events = [...appendEach(session, turnEvents(1))]
      const child = await persistence.fork('s', { id: 'child' })
      await child.close()
      expectEqual((await storedEvents(persistence, 'child')).slice(0, -1), events, 'prefix of the child')
      events.push(...appendEach(session, turnEvents(2)))
      await session.close()
      expectEqual(await storedEvents(persistence, 's'), events, 'events of the parent')
    },
  },
  8: {
    title: 'A session whose writer is elsewhere can be forked.',
    why: 'Readers are never kept out by a writer, and a fork reads its parent.',
    run: async (context) => {
      const [writer, other] = [await context.open(), await context.open()]
      const session = await writer.create({ id: 's' })
      const events = appendEach(session, turnEvents(1))
      await session.flush()
      await (await other.fork('s', { id: 'child' })).close()
      expectEqual((await storedEvents(other, 'child')).slice(0, -1), events, 'prefix of the child')
      appendEach(session, turnEvents(2))
      await session.close()
    },
  },
  9: {
    title: 'A fork under a stored id is ALREADY_EXISTS, and that session stays as it was.',
    why: 'A retried fork must not overwrite.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1)])
      const taken = await storeSession(persistence, 'taken', [turnEvents(1), turnEvents(2)])
      await expectRefusal(() => persistence.fork('s', { id: 'taken' }), 'ALREADY_EXISTS', 'a fork under a stored id')
      expectEqual(await storedEvents(persistence, 'taken'), taken, 'events of the stored session')
    },
  },
  10: {
    title:
      'A fork is its own writer: it is stored when the call resolves, goes on as any session, and parent and child do not share.',
    why: 'Two conversations that share a log are none.',
    run: async (context) => {
      const persistence = await context.open()
      const events = await storeSession(persistence, 's', [turnEvents(1)])
      const child = await persistence.fork('s', { id: 'child' })
      expectEqual(
        (await storedEvents(await context.open(), 'child')).length,
        events.length + 1,
        'events when fork resolved',
      )
      const ofChild = appendEach(child, turnEvents(2))
      const parent = await persistence.resume('s')
      const ofParent = appendEach(parent, [{ type: 'user/message', data: { message: 'only the parent' } }])
      await Promise.all([child.close(), parent.close()])
      expectEqual(
        (await storedEvents(persistence, 'child')).slice(events.length + 1),
        ofChild,
        'own events of the child',
      )
      expectEqual(withoutResumed(await storedEvents(persistence, 's')).slice(events.length), ofParent, 'of the parent')
    },
  },
  11: {
    title:
      '`turn` is the number of the last turn that the child shares, to its end; one that has not ended is refused.',
    why: 'Users count turns, and a seq counted for them by hand is off by one sooner or later.',
    run: async (context) => {
      const persistence = await context.open()
      const unfinished = turnEvents(4).slice(0, 5)
      const events = await storeSession(persistence, 's', [turnEvents(1), turnEvents(2), turnEvents(3), unfinished])
      for (const turn of [1, 2, 3]) {
        const child = await persistence.fork('s', { turn })
        await child.close()
        const shared = (await storedEvents(persistence, child.id)).slice(0, -1)
        expectEqual(shared, events.slice(0, turn * EVENTS_PER_TURN), `what a fork at turn ${turn} shares`)
      }
      for (const turn of [0, 4, 5, 1.5]) {
        const forking = (): unknown => persistence.fork('s', { turn, id: 'child' })
        await expectRefusal(forking, 'INVALID_ARGUMENT', `a fork at turn ${turn}`)
      }
      expectEqual((await persistence.list()).sessions.filter(({ id }) => id === 'child').length, 0, 'children refused')
    },
  },
})
