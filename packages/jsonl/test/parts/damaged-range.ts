/** What reading a range of a log must give that is damaged in one place. */
import { type AnySessionEvent, isSessionError, type SessionError, type SessionStorage } from '@session-persistence/core'
import { expect } from 'vitest'
import { SAMPLE_TIME } from './sample-log.ts'

/** Ten batches of five events, with so much text each. */
export function batchesOf(length: number): readonly (readonly AnySessionEvent[])[] {
  return Array.from({ length: 10 }, (_, batch) =>
    Array.from({ length: 5 }, (_, index) => {
      const seq = 5 * batch + index
      return { seq, time: SAMPLE_TIME + seq, type: 'acme/note', data: { text: noise(seq, length) }, ignorable: true }
    }),
  )
}

/** Text without a pattern, the same every time: it hardly compresses. */
function noise(seed: number, length: number): string {
  let state = seed * 7919 + 1
  let text = ''
  while (text.length < length) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    text += (state >>> 8).toString(36)
  }
  return text.slice(0, length)
}

export interface DamagedLog {
  /** Seqs, inclusive, of the events that cannot be read. */
  readonly hidden: readonly [number, number]
  /** Where the error says that the damage is. */
  readonly seq: number
  /** Whether the log may have had more events behind the hidden ones, for all that can be told. */
  readonly toEnd: boolean
}

interface Range {
  readonly from?: number
  readonly to?: number
}

const BOUNDS = [0, 3, 5, 9, 20, 23, 29, 38, 39, 40, 41, 44, 45, 46, 49, 60]

export const RANGES: readonly Range[] = [
  {},
  ...BOUNDS.flatMap((from) => [{ from }, { to: from }, ...BOUNDS.map((to) => ({ from, to }))]),
]

/** Reads the range both ways. */
export async function expectRange(
  storage: SessionStorage,
  events: readonly AnySessionEvent[],
  { hidden: [first, last], seq, toEnd }: DamagedLog,
  range: Range,
): Promise<void> {
  const { from = 0, to = Number.POSITIVE_INFINITY } = range
  const between = (low: number, high: number): readonly AnySessionEvent[] =>
    events.filter((event) => event.seq >= Math.max(from, low) && event.seq <= Math.min(to, high))
  // An empty range meets nothing.
  const isMet = from <= to && to >= first && (toEnd || from <= last)
  const forwards = isMet ? between(0, first - 1) : between(0, events.length)
  const backwards = isMet ? between(last + 1, events.length) : between(0, events.length)
  const where = JSON.stringify(range)
  const found = await outcome(storage, range)
  expect(seqs(found.events), where).toEqual(seqs(forwards))
  expect(found.events).toEqual(forwards)
  expect(found.error?.seq, where).toBe(isMet ? seq : undefined)
  const reversed = await outcome(storage, { ...range, reverse: true })
  expect(seqs(reversed.events), `${where} reversed`).toEqual(seqs(backwards).reverse())
  expect(reversed.events).toEqual(backwards.toReversed())
  expect(reversed.error?.code, `${where} reversed`).toBe(isMet ? 'CORRUPT' : undefined)
}

function seqs(events: readonly AnySessionEvent[]): number[] {
  return events.map((event) => event.seq)
}

async function outcome(
  storage: SessionStorage,
  range: Range & { readonly reverse?: boolean },
): Promise<{ readonly events: readonly AnySessionEvent[]; readonly error: SessionError | undefined }> {
  const events: AnySessionEvent[] = []
  const reader = await storage.openReader('s')
  try {
    for await (const page of reader.read(range)) events.push(...(page as AnySessionEvent[]))
    return { events, error: undefined }
  } catch (error) {
    if (!isSessionError(error, 'CORRUPT')) throw error
    return { events, error }
  } finally {
    await reader.close()
  }
}
