import type { SessionPage } from '@session-persistence/core'
import type { ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal } from '../expectation.ts'
import { everyPage, idsOf, openAt, storeMessage, summaryOf } from '../listed-sessions.ts'
import { storedEvents } from '../stored-events.ts'

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
})
