// Proves that a cursor answers like a generator that yields event by event: order, end, early end, errors and aborts.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnySessionEvent } from '../../src/event/event.ts'
import { EventCursor } from '../../src/session/event-cursor.ts'

const SCALE = Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? 1)

const event = (seq: number): AnySessionEvent => ({ seq, time: seq, type: 'session/title', data: { title: 't' } })

interface Source {
  closed: number
}

/** Pages of these sizes; throws in the place of the page with the number `failAt`. */
async function* pagesOf(
  sizes: readonly number[],
  source: Source,
  failAt = -1,
): AsyncGenerator<AnySessionEvent[], void> {
  try {
    let seq = 0
    for (const [number, size] of sizes.entries()) {
      await Promise.resolve()
      if (number === failAt) throw new Error('damaged')
      yield Array.from({ length: size }, () => event(seq++))
    }
  } finally {
    source.closed++
  }
}

async function* model(sizes: readonly number[], source: Source, failAt: number): AsyncGenerator<AnySessionEvent, void> {
  for await (const page of pagesOf(sizes, source, failAt)) yield* page
}

describe('EventCursor', () => {
  it('answers any mix of concurrent calls as the generator does', async () => {
    const sizes = fc.array(fc.nat(4), { maxLength: 5 })
    const calls = fc.array(fc.constantFrom('next', 'next', 'next', 'settle', 'return'), { maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: -1, max: 5 }), calls, async (pages, failAt, script) => {
        const answers = async (
          cursor: AsyncIterator<AnySessionEvent, unknown, undefined>,
        ): Promise<readonly unknown[]> => {
          const pending: Promise<unknown>[] = []
          for (const call of script) {
            if (call === 'settle') await Promise.allSettled(pending)
            else pending.push(call === 'next' ? cursor.next() : (cursor.return?.() ?? Promise.resolve()))
          }
          const settled = await Promise.allSettled(pending)
          return settled.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)))
        }
        const source = { closed: 0 }
        const found = await answers(new EventCursor(pagesOf(pages, source, failAt), undefined))
        expect(found).toEqual(await answers(model(pages, { closed: 0 }, failAt)))
        expect(source.closed).toBeLessThanOrEqual(1)
      }),
      { numRuns: 300 * SCALE },
    )
  })

  it('releases the pages when a loop is left early', async () => {
    const source = { closed: 0 }
    for await (const { seq } of new EventCursor(pagesOf([3, 3], source), undefined)) if (seq === 1) break
    expect(source.closed).toBe(1)
  })

  it('ends with the reason of its signal in the middle of a page, and releases the pages', async () => {
    const source = { closed: 0 }
    const abort = new AbortController()
    const reason = new Error('enough')
    const seen: number[] = []
    const loop = async (): Promise<void> => {
      for await (const { seq } of new EventCursor(pagesOf([5, 5], source), abort.signal)) {
        seen.push(seq)
        if (seq === 2) abort.abort(reason)
      }
    }
    await expect(loop()).rejects.toBe(reason)
    expect(seen).toEqual([0, 1, 2])
    expect(source.closed).toBe(1)
  })

  it('is at its end after an error', async () => {
    const cursor = new EventCursor(pagesOf([1, 1], { closed: 0 }, 1), undefined)
    expect(await cursor.next()).toMatchObject({ done: false })
    await expect(cursor.next()).rejects.toThrow('damaged')
    expect(await cursor.next()).toEqual({ done: true, value: undefined })
  })
})
