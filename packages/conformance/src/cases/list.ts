import type { ListOptions, SessionPage, SessionPersistence, SessionSummary } from '@session-persistence/core'
import type { CaseContext, ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { appendEach, storedEvents, storeSession } from '../stored-events.ts'
import { conversation, plainMessage } from '../workload.ts'

export const LIST_CASES: readonly ConformanceCase[] = casesOf('LIST', {
  1: {
    title: 'Newest `updatedAt` first, then by id in code-unit order.',
    why: 'Without a total order pages overlap.',
    run: async (context) => {
      const persistence = await openAt(context, { b: 3000, a: 3000, Z: 3000, ä: 3000, old: 1000, new: 9000 })
      expectEqual(idsOf((await persistence.list()).sessions), ['new', 'Z', 'a', 'b', 'ä', 'old'], 'order of ids')
    },
  },
  2: {
    title: 'Pages of any size show every session exactly once, also when all times are equal.',
    why: 'Imported sessions share times; a cursor of time alone skips or repeats them.',
    run: async (context) => {
      const ids = Array.from({ length: 23 }, (_, index) => `id-${String(index).padStart(2, '0')}`)
      const persistence = await openAt(context, Object.fromEntries(ids.map((id) => [id, 5000])))
      for (const limit of [1, 2, 7, 22, 23, 24]) {
        expectEqual(idsOf(await everyPage(persistence, { limit })), ids, `ids by pages of ${limit}`)
      }
    },
  },
  3: {
    title: '1,001 sessions are listed to the last one.',
    why: 'A silent cap hides sessions for ever.',
    needs: { timeoutMs: 60_000 },
    run: async (context) => {
      const count = context.effort === 'full' ? 1001 : 120
      const persistence = await context.open({ clock: () => 1000 })
      const ids = Array.from({ length: count }, (_, index) => `s${String(index).padStart(4, '0')}`)
      for (let start = 0; start < count; start += 50) {
        await Promise.all(ids.slice(start, start + 50).map((id) => storeMessage(persistence, id)))
      }
      const limit = context.effort === 'full' ? 1000 : 100
      expectEqual(idsOf(await everyPage(persistence, { limit })), ids, 'ids of all sessions')
    },
  },
  4: {
    title: 'A session that is updated between two pages shows no other session twice and hides none.',
    why: 'A cursor that counts positions slips when the order changes.',
    run: async (context) => {
      let now = 0
      const persistence = await context.open({ clock: () => now })
      const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
      for (const [index, id] of ids.entries()) {
        now = 10_000 - index * 100
        await storeMessage(persistence, id)
      }
      const next = (cursor: string | undefined): Promise<SessionPage> =>
        persistence.list({ limit: 2, ...(cursor === undefined ? {} : { cursor }) })
      const first = await next(undefined)
      now = 20_000
      await persistence.annotate('h', { title: 'moved to the front' })
      const second = await next(first.cursor)
      await persistence.delete('a')
      await persistence.delete('b')
      const third = await next(second.cursor)
      const fourth = await next(third.cursor)
      const pages = [first, second, third, fourth].map(({ sessions }) => idsOf(sessions))
      expectEqual(pages, [['a', 'b'], ['c', 'd'], ['e', 'f'], ['g']], 'pages around an update and two deletions')
    },
  },
  5: {
    title:
      '`updatedAt` is the time of the last event and changes with events only, never by reading, resuming or forking.',
    why: 'Opening a session to look must not move it to the top.',
    run: async (context) => {
      let now = 1000
      const persistence = await context.open({ clock: () => now })
      await storeMessage(persistence, 's')
      now = 9000
      await storedEvents(persistence, 's')
      await (await persistence.resume('s')).close()
      await persistence.inspect('s')
      await (await persistence.fork('s', { id: 'child' })).close()
      const summary = await summaryOf(persistence, 's')
      expectEqual([summary.createdAt, summary.updatedAt], [1000, 1000], 'createdAt and updatedAt')
      await persistence.annotate('s', { title: 'x' })
      expectEqual((await summaryOf(persistence, 's')).updatedAt, 9000, 'updatedAt after a new event')
    },
  },
  6: {
    title: 'A limit that is not an integer from 1 to 1,000 is INVALID_ARGUMENT.',
    why: 'Clamped limits mean something else on every backend.',
    run: async (context) => {
      const persistence = await context.open()
      for (const limit of [0, -1, 1.5, 1001, Number.NaN, Number.POSITIVE_INFINITY]) {
        await expectRefusal(() => persistence.list({ limit }), 'INVALID_ARGUMENT', `limit ${limit}`)
      }
      await persistence.list({ limit: 1000 })
    },
  },
  7: {
    title: 'A cursor that did not come from a page is INVALID_ARGUMENT.',
    why: 'Starting again from the top in silence makes a loop that never ends.',
    run: async (context) => {
      const persistence = await openAt(context, { a: 1000, b: 2000 })
      for (const cursor of ['', 'nonsense', '!!', 'eyJhIjoxfQ']) {
        await expectRefusal(() => persistence.list({ cursor }), 'INVALID_ARGUMENT', `cursor '${cursor}'`)
      }
    },
  },
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

async function storeMessage(persistence: SessionPersistence, id: string): Promise<void> {
  await storeSession(persistence, id, [[{ type: 'user/message', data: { message: plainMessage('user', id) } }]])
}

/** Sessions with one event each, at the given times. */
async function openAt(context: CaseContext, times: { readonly [id: string]: number }): Promise<SessionPersistence> {
  let now = 0
  const persistence = await context.open({ clock: () => now })
  for (const [id, time] of Object.entries(times)) {
    now = time
    await storeMessage(persistence, id)
  }
  return persistence
}

function idsOf(sessions: readonly SessionSummary[]): readonly string[] {
  return sessions.map(({ id }) => id)
}

async function summaryOf(persistence: SessionPersistence, id: string): Promise<SessionSummary> {
  const found = (await persistence.list()).sessions.find((summary) => summary.id === id)
  expectThat(found !== undefined, `session ${id} is not in the list`)
  return found
}

/** Every page from the given one on. A listing that goes in circles ends after far more pages than it can need. */
async function everyPage(persistence: SessionPersistence, options: ListOptions): Promise<readonly SessionSummary[]> {
  const all: SessionSummary[] = []
  let { cursor } = options
  for (let pages = 0; pages < 2000; pages += 1) {
    const page = await persistence.list({ ...options, ...(cursor === undefined ? {} : { cursor }) })
    expectThat(page.sessions.length <= (options.limit ?? 50), 'a page is longer than its limit')
    all.push(...page.sessions)
    cursor = page.cursor
    if (cursor === undefined) return all
  }
  throw new Error('the pages never end')
}
