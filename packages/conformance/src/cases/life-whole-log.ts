import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { escapedRejections } from '../escaped-rejections.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { appendEach, collect, storedEvents, storeSession } from '../stored-events.ts'
import { conversation, turnEvents } from '../workload.ts'

/** Calls about a log as a whole, and what fails in the background. */
export const LIFE_WHOLE_LOG_CASES: readonly ConformanceCase[] = casesOf('LIFE', {
  11: {
    title: 'Nothing that fails or is aborted leaves an unhandled rejection.',
    why: 'Node ends the process at an unhandled rejection, and with it every session.',
    run: async (context) => {
      const persistence = await context.open()
      const escaped = await escapedRejections(async () => {
        await expectRefusal(() => persistence.resume('missing'), 'NOT_FOUND', 'resume of a missing session')
        await expectRefusal(() => storedEvents(persistence, 'missing'), 'NOT_FOUND', 'read of a missing session')
        // Never iterated: whatever it started must stay quiet.
        persistence.read('missing')
        await storeSession(persistence, 's', [turnEvents(1)])
        const abort = new AbortController()
        const followed = persistence.follow('s', { signal: abort.signal })[Symbol.asyncIterator]()
        for (let seq = 0; seq < turnEvents(1).length; seq += 1) await followed.next()
        const waiting = followed.next().then(
          () => {},
          () => {},
        )
        abort.abort(new Error('enough'))
        await waiting
        await persistence.list()
        const session = await persistence.resume('s')
        appendEach(session, turnEvents(2))
        await persistence.close()
        await session.flush().catch(() => {})
      })
      expectEqual(escaped, [], 'rejections that nobody could handle')
    },
  },
  12: {
    title: 'Annotate renames and labels a stored session without ending its open turn.',
    why: 'Renaming a session in a list must not change what a resume finds.',
    run: async (context) => {
      const persistence = await context.open()
      await storeSession(persistence, 's', [turnEvents(1), turnEvents(2).slice(0, 2)])
      await persistence.annotate('s', { title: 'A title', labels: { color: 'red' } })
      const view = await persistence.inspect('s')
      expectEqual(view.summary().title, 'A title', 'title')
      expectEqual(view.summary().labels, { color: 'red' }, 'labels')
      expectEqual(view.openTurn?.turn, 2, 'open turn after annotate')
      const types = (await storedEvents(persistence, 's')).map(({ type }) => type)
      expectThat(
        !types.includes('turn/end') || types.indexOf('turn/end') === types.lastIndexOf('turn/end'),
        'turn ended',
      )
      await expectRefusal(
        () => persistence.annotate('missing', { title: 'x' }),
        'NOT_FOUND',
        'annotate what is not there',
      )
    },
  },
  13: {
    title: 'A log exported from one medium and imported into another has equal events and an equal head.',
    why: 'Moving between backends must not change one event.',
    run: async (context) => {
      const source = await context.open()
      const events = await storeSession(source, 's', [
        conversation(2),
        [{ type: 'session/title', data: { title: 't' } }],
      ])
      const target = await (await context.newMedium()).open()
      const imported = await target.importLog(await source.exportLog('s'))
      expectEqual(imported.id, 's', 'id')
      expectEqual(imported.events, events.length, 'number of events')
      expectEqual(await storedEvents(target, 's'), events, 'events after import')
      expectEqual((await target.inspect('s')).head, (await source.inspect('s')).head, 'head after import')
      await expectRefusal(
        async () => target.importLog(await source.exportLog('s')),
        'ALREADY_EXISTS',
        'importing twice',
      )
    },
  },
  14: {
    title:
      'What is registered at open holds for every session: projections keep their state, another is NOT_SUPPORTED.',
    why: 'State derived twice in different ways would disagree.',
    run: async (context) => {
      const counter = { name: 'count', version: 1, initial: () => 0, apply: (count: number) => count + 1 }
      const other = { ...counter, name: 'other' }
      const persistence = await context.open({ projections: [{ ...counter, chunks: true }] })
      const registered = { ...counter, chunks: true }
      const session = await persistence.create({ id: 's' })
      const events = appendEach(session, turnEvents(1))
      expectEqual(session.state(registered), events.length, 'live state')
      await expectRefusal(
        () => session.state(other),
        'NOT_SUPPORTED',
        'state of a projection that was not given at open',
      )
      await session.close()
      const again = await context.open({ projections: [registered] })
      const resumed = await again.resume('s')
      const stored = await collect(resumed.read())
      expectEqual(resumed.state(registered), stored.length, 'state after a resume')
    },
  },
})
