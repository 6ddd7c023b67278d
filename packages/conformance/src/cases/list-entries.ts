import type { ListOptions } from '@session-persistence/core'
import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectThat } from '../expectation.ts'
import { everyPage, idsOf, openAt, summaryOf } from '../listed-sessions.ts'
import { appendEach, storedEvents } from '../stored-events.ts'
import { conversation, plainMessage } from '../workload.ts'

/** What an entry of the list says, and which entries a filter keeps. */
export const LIST_ENTRIES_CASES: readonly ConformanceCase[] = casesOf('LIST', {
  8: {
    title:
      'Filters by cwd, parent, origin, labels and updatedAfter keep exactly the sessions that match, on every page.',
    why: 'A filter that misses shows one project’s sessions in another.',
    run: async (context) => {
      let now = 0
      const persistence = await context.open({ clock: () => now })
      const places = ['/a', '/a', '/b', '/a/b']
      for (const [index, cwd] of places.entries()) {
        now = 1000 * (index + 1)
        const labels = { kind: index % 2 === 0 ? 'even' : 'odd', all: 'yes' }
        const origin = index === 3 ? 'import' : 'harness'
        const parent = index === 1 ? { parent: 'p' } : {}
        const session = await persistence.create({ id: `s${index}`, cwd, labels, origin, ...parent })
        session.append('user/message', { message: 'x' })
        await session.close()
      }
      const matches: readonly (readonly [NonNullable<ListOptions['filter']>, readonly string[]])[] = [
        [{ cwd: '/a' }, ['s1', 's0']],
        [{ cwd: '/nowhere' }, []],
        [{ parent: 'p' }, ['s1']],
        [{ origin: 'harness' }, ['s2', 's1', 's0']],
        [{ labels: { kind: 'even' } }, ['s2', 's0']],
        [{ labels: { kind: 'odd', all: 'yes' } }, ['s3', 's1']],
        [{ labels: { all: 'no' } }, []],
        [{ updatedAfter: 2000 }, ['s3', 's2']],
        [{ cwd: '/a', labels: { kind: 'odd' } }, ['s1']],
      ]
      for (const [filter, ids] of matches) {
        const what = `ids for ${JSON.stringify(filter)}`
        expectEqual(idsOf(await everyPage(persistence, { filter })), ids, what)
        expectEqual(idsOf(await everyPage(persistence, { filter, limit: 1 })), ids, `${what}, one a page`)
      }
    },
  },
  9: {
    title:
      'An entry tells what the log says: times, title, labels, turns, events, cwd, parent, origin, message format.',
    why: 'A list that is stale or guesses sends the user into the wrong session.',
    run: async (context) => {
      const persistence = await context.open()
      const labels = { color: 'red' }
      const session = await persistence.create({ id: 's', cwd: '/work', origin: 'test', parent: 'p', labels })
      appendEach(session, conversation(2))
      session.append('session/title', { title: 'first' })
      session.append('session/title', { title: 'second' })
      await session.flush()
      const last = (await storedEvents(persistence, 's')).at(-1)
      await session.close()
      for (const reader of [persistence, await context.open()]) {
        const { bytes, createdAt, state, ...summary } = await summaryOf(reader, 's')
        expectEqual(
          Object.fromEntries(Object.entries(summary).sort(([a], [b]) => (a < b ? -1 : 1))),
          {
            cwd: '/work',
            events: 26,
            id: 's',
            labels,
            messageFormat: 'plain',
            origin: 'test',
            parent: 'p',
            title: 'second',
            turns: 2,
            updatedAt: last?.time,
          },
          'summary',
        )
        expectEqual([state, bytes > 0, createdAt !== undefined], ['ready', true, true], 'state, bytes and createdAt')
      }
    },
  },
  10: {
    title: 'An empty medium lists nothing and gives no cursor; the last page has no cursor.',
    why: 'A cursor that leads nowhere costs every caller one more call.',
    level: 'SHOULD',
    run: async (context) => {
      expectEqual(await (await context.open()).list(), { sessions: [] }, 'an empty medium')
      const persistence = await openAt(context, { a: 1000, b: 2000 })
      expectEqual((await persistence.list({ limit: 2 })).cursor, undefined, 'cursor of the last page')
    },
  },
  11: {
    title: 'Session labels change by `session/labels`; the list shows the newest value of each.',
    why: 'Archiving and starring are labels.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's', labels: { a: '1', b: '1' } })
      session.append('user/message', { message: plainMessage('user', 'x') })
      session.append('session/labels', { labels: { b: '2' } })
      await session.close()
      await persistence.annotate('s', { labels: { c: '3' } })
      const { labels } = await summaryOf(persistence, 's')
      expectEqual([labels?.b, labels?.c], ['2', '3'], 'changed and added label')
      expectEqual(idsOf((await persistence.list({ filter: { labels: { c: '3' } } })).sessions), ['s'], 'filtered by it')
    },
  },
  12: {
    title: 'A page holds 50 sessions unless told otherwise.',
    why: 'The default must not read a medium of any size into memory.',
    run: async (context) => {
      const ids = Array.from({ length: 53 }, (_, index) => `s${String(index).padStart(2, '0')}`)
      const persistence = await openAt(context, Object.fromEntries(ids.map((id) => [id, 1000])))
      const page = await persistence.list()
      expectEqual(idsOf(page.sessions), ids.slice(0, 50), 'ids of the default page')
      expectThat(page.cursor !== undefined, 'a page that is not the last has no cursor')
      expectEqual(idsOf(await everyPage(persistence, {})), ids, 'ids of all pages')
    },
  },
})
