// Proves that every range, forwards and backwards, gives exactly its events from any log, and that reading near the end
// reads no more of a long log than of a short one.
import type { AnySessionEvent, StoredRecord } from '@session-persistence/core'
import { isElided } from '@session-persistence/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { FaultyFileSystem } from './parts/faulty-file-system.ts'
import { MemoryFileSystem } from './parts/memory-file-system.ts'
import { readAll, SAMPLE_BATCHES, SAMPLE_EVENTS, SAMPLE_TIME, store } from './parts/sample-log.ts'
import { SCALE } from './parts/scale.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

/** Events of very different lengths: what makes a search by offset hard. */
const logs = fc
  .array(
    fc.oneof(
      { weight: 20, arbitrary: fc.nat(200) },
      { weight: 3, arbitrary: fc.nat(20_000) },
      { weight: 1, arbitrary: fc.nat(400_000) },
    ),
    {
      minLength: 1,
      maxLength: 300,
      size: 'max',
    },
  )
  .map((lengths) =>
    lengths.map((length, seq): AnySessionEvent => {
      const text = (seq % 3 === 0 ? 'ä' : 'x').repeat(length)
      return length % 2 === 0
        ? { seq, time: SAMPLE_TIME + seq, type: 'acme/note', data: { text }, ignorable: true }
        : {
            seq,
            time: SAMPLE_TIME + seq,
            type: 'assistant/chunk',
            data: { turn: 1, step: 1, kind: 'text', index: 0, text },
          }
    }),
  )

function split<T>(items: readonly T[], size: number): T[][] {
  const parts: T[][] = []
  for (let at = 0; at < items.length; at += size) parts.push(items.slice(at, at + size))
  return parts
}

it('every range of any log', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      logs,
      fc.integer({ min: 1, max: 40 }),
      fc.boolean(),
      fc.array(fc.tuple(fc.nat(310), fc.nat(310)), { minLength: 6, maxLength: 6 }),
      async (events, size, pack, ranges) => {
        const storage = jsonlStorage({ root: '/root', fileSystem: new MemoryFileSystem('/root'), pack })
        await store(storage, 's', split(events, size))
        expect(await readAll(storage, 's')).toEqual(events)
        for (const [from, to] of ranges) {
          const expected = events.slice(from, to + 1)
          expect(await readAll(storage, 's', { from, to })).toEqual(expected)
          expect(await readAll(storage, 's', { from, to, reverse: true })).toEqual(expected.reverse())
          expect(await readAll(storage, 's', { from })).toEqual(events.slice(from))
          expect(await readAll(storage, 's', { to, reverse: true })).toEqual(events.slice(0, to + 1).reverse())
        }
      },
    ),
    { numRuns: 15 * SCALE, interruptAfterTimeLimit: 100_000, endOnFailure: SCALE === 1 },
  )
})

describe.each([false, true])('elided chunks (packed: %s)', (pack) => {
  it('stand for exactly the chunks that are there', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlStorage({ root, durability: 'process', pack })
    await store(storage, 's', SAMPLE_BATCHES)
    const reader = await storage.openReader('s')
    const records: StoredRecord[] = []
    for await (const page of reader.read({ elideChunks: true })) records.push(...page)
    await reader.close()
    expect(records.filter((record) => !isElided(record))).toEqual(
      SAMPLE_EVENTS.filter(({ type }) => type !== 'assistant/chunk'),
    )
    const chunks = SAMPLE_EVENTS.filter(({ type }) => type === 'assistant/chunk')
    expect(records.filter(isElided)).toEqual([
      { elided: 'assistant/chunk', seq: 3, count: chunks.length, turn: 1, step: 1 },
    ])
  })

  it('are cut to the range', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlStorage({ root, durability: 'process', pack })
    await store(storage, 's', SAMPLE_BATCHES)
    const reader = await storage.openReader('s')
    const records: StoredRecord[] = []
    for await (const page of reader.read({ elideChunks: true, from: 4, to: 6 })) records.push(...page)
    await reader.close()
    expect(records).toEqual([{ elided: 'assistant/chunk', seq: 4, count: 3, turn: 1, step: 1 }])
  })
})

it('the end of a long log costs what the end of a short one does', async () => {
  const bytesRead = async (count: number): Promise<readonly number[]> => {
    const root = await temporaryDirectory()
    const chunk = (seq: number): AnySessionEvent => ({
      seq,
      time: SAMPLE_TIME + seq,
      type: 'assistant/chunk',
      data: { turn: 1, step: 1, kind: 'text', index: 0, text: ` word ${seq}` },
    })
    await store(
      jsonlStorage({ root, durability: 'process' }),
      's',
      split(
        Array.from({ length: count }, (_, seq) => chunk(seq)),
        1000,
      ),
    )
    const fs = new FaultyFileSystem()
    const storage = jsonlStorage({ root, durability: 'process', fileSystem: fs })
    const measured: number[] = []
    for (const use of [
      async () => (await storage.openWriter('s', { kind: 'resume' })).close(),
      async () => expect(await readAll(storage, 's', { from: count - 50 })).toHaveLength(50),
      async () => expect(await readAll(storage, 's', { from: count - 50, reverse: true })).toHaveLength(50),
      async () => expect(await readAll(storage, 's', { from: count >> 1, to: (count >> 1) + 9 })).toHaveLength(10),
    ]) {
      const before = fs.bytesRead
      await use()
      measured.push(fs.bytesRead - before)
    }
    return measured
  }
  const [short, long] = [await bytesRead(20_000), await bytesRead(100_000)]
  long.forEach((bytes, index) => {
    expect(bytes).toBeLessThan(1.5 * (short[index] ?? 0) + 200_000)
  })
})
