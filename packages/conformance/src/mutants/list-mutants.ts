import {
  isSessionError,
  type ListOptions,
  type SessionPage,
  type SessionPersistence,
  type SessionSummary,
} from '@session-persistence/core'
import { type Mutant, shared } from './mutant.ts'

/** A list whose entries are changed one by one. */
function changedSummaries(
  change: (summary: SessionSummary, inner: SessionPersistence) => Promise<SessionSummary>,
): NonNullable<Mutant['persistence']> {
  return (inner) => ({
    list: async (options) => {
      const page = await inner.list(options)
      return { ...page, sessions: await Promise.all(page.sessions.map((summary) => change(summary, inner))) }
    },
  })
}

/** A list that is asked something else than it was told. */
function changedQuestion(change: (options: ListOptions) => ListOptions): NonNullable<Mutant['persistence']> {
  return (inner) => ({ list: (options = {}) => inner.list(change(options)) })
}

export const LIST_MUTANTS: readonly Mutant[] = [
  {
    name: 'oldest-first',
    wrong: 'A page is in the opposite order.',
    aimedAt: 'LIST-1',
    persistence: (inner) => ({
      list: async (options) => {
        const page = await inner.list(options)
        return { ...page, sessions: page.sessions.toReversed() }
      },
    }),
  },
  {
    name: 'cursor-of-time-alone',
    wrong: 'The next page begins at the next time and skips sessions with the same one.',
    aimedAt: 'LIST-2',
    persistence: (inner, medium) => {
      const times = shared(medium, 'cursor-times', () => new Map<string, number | undefined>())
      const list = async (options: ListOptions = {}): Promise<SessionPage> => {
        const page = await inner.list(options)
        if (page.cursor !== undefined) times.set(page.cursor, page.sessions.at(-1)?.updatedAt)
        if (options.cursor === undefined || !times.has(options.cursor)) return page
        const shown = times.get(options.cursor)
        return { ...page, sessions: page.sessions.filter(({ updatedAt }) => updatedAt !== shown) }
      }
      return { list }
    },
  },
  {
    name: 'list-capped',
    wrong: 'After a hundred sessions the list ends.',
    aimedAt: 'LIST-3',
    persistence: (inner, medium) => {
      const shownBy = shared(medium, 'cursor-shown', () => new Map<string, number>())
      return {
        list: async (options = {}) => {
          const { cursor, ...page } = await inner.list(options)
          const shown = (shownBy.get(options.cursor ?? '') ?? 0) + page.sessions.length
          if (cursor === undefined || shown >= 100) return page
          shownBy.set(cursor, shown)
          return { ...page, cursor }
        },
      }
    },
  },
  {
    name: 'cursor-counts-positions',
    wrong: 'The cursor is a number of sessions to skip.',
    aimedAt: 'LIST-4',
    persistence: (inner) => ({
      list: async (options = {}) => {
        const { cursor, limit = 50, ...rest } = options
        const first = await inner.list({ ...rest, limit, ...(cursor?.startsWith('skip-') === false ? { cursor } : {}) })
        const all = [...first.sessions]
        for (let next = first.cursor; next !== undefined; ) {
          const page = await inner.list({ ...rest, limit, cursor: next })
          all.push(...page.sessions)
          next = page.cursor
        }
        const start = cursor === undefined ? 0 : Number(cursor.slice('skip-'.length))
        const sessions = all.slice(start, start + limit)
        return start + limit < all.length ? { sessions, cursor: `skip-${start + limit}` } : { sessions }
      },
    }),
  },
  {
    name: 'updated-when-resumed',
    wrong: 'Resuming a session changes its updatedAt.',
    aimedAt: 'LIST-5',
    persistence: (inner, medium) => {
      const touched = shared(medium, 'touched', () => new Set<string>())
      return {
        resume: async (id, options) => {
          const session = await inner.resume(id, options)
          touched.add(id)
          return session
        },
        list: async (options) => {
          const page = await inner.list(options)
          const sessions = page.sessions.map((summary) =>
            touched.has(summary.id) ? { ...summary, updatedAt: (summary.updatedAt ?? 0) + 1 } : summary,
          )
          return { ...page, sessions }
        },
      }
    },
  },
  {
    name: 'limit-clamped',
    wrong: 'A limit out of range is moved into it.',
    aimedAt: 'LIST-6',
    persistence: changedQuestion(({ limit, ...options }) => {
      if (limit === undefined) return options
      return { ...options, limit: Number.isInteger(limit) ? Math.min(1000, Math.max(1, limit)) : 50 }
    }),
  },
  {
    name: 'bad-cursor-starts-again',
    wrong: 'A cursor that is none starts from the top.',
    aimedAt: 'LIST-7',
    persistence: (inner) => ({
      list: async ({ cursor, ...options } = {}) => {
        try {
          return await inner.list({ ...options, ...(cursor === undefined ? {} : { cursor }) })
        } catch (error) {
          if (!isSessionError(error, 'INVALID_ARGUMENT') || cursor === undefined) throw error
          return inner.list(options)
        }
      },
    }),
  },
  {
    name: 'label-filter-ignored',
    wrong: 'A filter by labels is ignored.',
    aimedAt: 'LIST-8',
    persistence: changedQuestion(({ filter = {}, ...options }) => {
      const { labels: _, ...rest } = filter
      return { ...options, filter: rest }
    }),
  },
  {
    name: 'updated-after-or-at',
    wrong: 'A filter by updatedAfter takes the given time in.',
    aimedAt: 'LIST-8',
    persistence: changedQuestion(({ filter, ...options }) => {
      if (filter?.updatedAfter === undefined) return { ...options, ...(filter === undefined ? {} : { filter }) }
      return { ...options, filter: { ...filter, updatedAfter: filter.updatedAfter - 1 } }
    }),
  },
  {
    name: 'turns-miscounted',
    wrong: 'The list counts one turn too many.',
    aimedAt: 'LIST-9',
    persistence: changedSummaries(async ({ turns, ...summary }) => ({ ...summary, turns: (turns ?? 0) + 1 })),
  },
  {
    name: 'last-page-has-a-cursor',
    wrong: 'The last page offers another one.',
    aimedAt: 'LIST-10',
    persistence: (inner, medium) => {
      const ends = shared(medium, 'ends', () => new Set<string>())
      return {
        list: async (options = {}) => {
          if (options.cursor !== undefined && ends.has(options.cursor)) return { sessions: [] }
          const page = await inner.list(options)
          if (page.cursor !== undefined || page.sessions.length === 0) return page
          const cursor = `end-${ends.size}`
          ends.add(cursor)
          return { ...page, cursor }
        },
      }
    },
  },
  {
    name: 'labels-of-the-header-only',
    wrong: 'The list shows the labels that a session was created with.',
    aimedAt: 'LIST-11',
    persistence: changedSummaries(async ({ labels: _, ...summary }, inner) => {
      const labels = (await inner.inspect(summary.id)).header.labels
      return labels === undefined ? summary : { ...summary, labels }
    }),
  },
  {
    name: 'default-page-is-everything',
    wrong: 'Without a limit a page holds a thousand sessions.',
    aimedAt: 'LIST-12',
    persistence: changedQuestion((options) => ({ limit: 1000, ...options })),
  },
]
