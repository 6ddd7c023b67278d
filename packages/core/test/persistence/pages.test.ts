// Proves that reading in pages stops where it is told to, between two pages, and gives no more than a read does.
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/persistence/open-memory.ts'
import type { SessionPersistence } from '../../src/persistence/session-persistence.ts'
import { collect, completeTurn } from './conversation.ts'

/** Several pages of every backend there is. */
const TURNS = 1000

async function stored(): Promise<SessionPersistence> {
  const persistence = await openMemory()
  const session = await persistence.create({ id: 'long' })
  for (let turn = 1; turn <= TURNS; turn++) completeTurn(session, turn, 'q', 'a')
  await session.close()
  return persistence
}

describe('readPages', () => {
  it('gives what read gives, in more than one page', async () => {
    const persistence = await stored()
    const pages = await collect(persistence.readPages('long', { from: 3, to: 5000 }))
    expect(pages.length).toBeGreaterThan(1)
    expect(pages.flat()).toEqual(await collect(persistence.read('long', { from: 3, to: 5000 })))
  })

  it('ends with the reason of its signal before the next page', async () => {
    const persistence = await stored()
    const abort = new AbortController()
    const reason = new Error('enough')
    let pages = 0
    const reading = async (): Promise<void> => {
      for await (const page of persistence.readPages('long', { signal: abort.signal })) {
        pages += Math.sign(page.length)
        abort.abort(reason)
      }
    }
    await expect(reading()).rejects.toBe(reason)
    expect(pages).toBe(1)
  })

  it('ends with CLOSED when the persistence is closed meanwhile', async () => {
    const persistence = await stored()
    const pages = persistence.readPages('long')[Symbol.asyncIterator]()
    expect((await pages.next()).done).toBe(false)
    await persistence.close()
    await expect(pages.next()).rejects.toMatchObject({ code: 'CLOSED' })
    expect(await pages.next()).toEqual({ done: true, value: undefined })
  })
})
