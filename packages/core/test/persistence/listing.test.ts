// Proves: a listing shows every session once, newest first, whatever the page size, and refuses bad arguments.
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/persistence/open-memory.ts'
import type { SessionPersistence, SessionSummary } from '../../src/persistence/session-persistence.ts'
import { completeTurn } from './conversation.ts'

async function all(persistence: SessionPersistence, limit: number, filter = {}): Promise<SessionSummary[]> {
  const shown: SessionSummary[] = []
  let cursor: string | undefined
  do {
    const page = await persistence.list({ limit, filter, ...(cursor === undefined ? {} : { cursor }) })
    expect(page.sessions.length).toBeLessThanOrEqual(limit)
    shown.push(...page.sessions)
    cursor = page.cursor
  } while (cursor !== undefined)
  return shown
}

async function manySessions(): Promise<SessionPersistence> {
  let now = 1_000
  const persistence = await openMemory({ clock: () => now })
  for (let n = 0; n < 30; n++) {
    // Three sessions share each time, so that equal keys meet the page boundary.
    now = 1_000 + Math.floor(n / 3)
    const session = await persistence.create({ id: `s${(n * 7) % 30}`, labels: { even: String(n % 2 === 0) } })
    completeTurn(session, 1, 'q', 'a')
    if (n === 4) await persistence.annotate(session.id, { title: 'four', labels: { even: 'odd one' } })
    await session.close()
  }
  return persistence
}

describe('list', () => {
  it('shows each session once, in one order, for every page size', async () => {
    const persistence = await manySessions()
    const expected = (await all(persistence, 1000)).map((entry) => entry.id)
    expect(new Set(expected).size).toBe(30)
    const times = (await all(persistence, 1000)).map((entry) => entry.updatedAt ?? 0)
    expect(times).toEqual([...times].sort((a, b) => b - a))
    for (const limit of [1, 2, 3, 7, 10, 29, 30, 31]) {
      expect((await all(persistence, limit)).map((entry) => entry.id)).toEqual(expected)
    }
  })

  it('filters by labels as annotated, and summarises', async () => {
    const persistence = await manySessions()
    const [odd, ...none] = await all(persistence, 2, { labels: { even: 'odd one' } })
    expect(none).toEqual([])
    expect(odd).toMatchObject({ id: 's28', title: 'four', turns: 1, events: 8, state: 'ready' })
    expect((await all(persistence, 4, { labels: { even: 'true' } })).length).toBe(14)
    expect((await all(persistence, 4, { updatedAfter: 1_005 })).length).toBe(12)
  })

  it('refuses bad limits, cursors and filters with INVALID_ARGUMENT', async () => {
    const persistence = await openMemory()
    for (const options of [
      { limit: 0 },
      { limit: 1001 },
      { limit: 1.5 },
      { cursor: 'nonsense' },
      { cursor: Buffer.from('[1]').toString('base64url') },
      { filter: { state: 'lost' } },
      { filter: { cwd: 1 } },
    ]) {
      await expect(persistence.list(options as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    }
  })
})
