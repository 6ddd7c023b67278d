// Proves that every range, forwards and backwards, sealed or not, gives exactly its events from any log, whatever the
// codec; and that reading near the end reads no more of a long log than of a short one.
import { createHash } from 'node:crypto'
import type { AnySessionEvent, StorageWriter, StoredRecord } from '@session-persistence/core'
import { isElided } from '@session-persistence/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FaultyFileSystem } from '../../jsonl/test/parts/faulty-file-system.ts'
import { MemoryFileSystem } from '../../jsonl/test/parts/memory-file-system.ts'
import { readAll, SAMPLE_BATCHES, SAMPLE_EVENTS, SAMPLE_TIME, store } from '../../jsonl/test/parts/sample-log.ts'
import { SCALE } from '../../jsonl/test/parts/scale.ts'
import { temporaryDirectory } from '../../jsonl/test/parts/temporary-directory.ts'
import { jsonlZstdStorage } from '../src/index.ts'
import { nodeZstd } from '../src/node-zstd.ts'

type Kind = 'note' | 'text' | 'arguments' | 'other'

/** Runs of deltas, of very different lengths, broken by whatever may stand between. */
const logs = fc
  .array(
    fc.record({
      kind: fc.constantFrom<Kind>('text', 'text', 'text', 'text', 'arguments', 'note', 'other'),
      length: fc.oneof(
        { weight: 30, arbitrary: fc.nat(60) },
        { weight: 2, arbitrary: fc.nat(20_000) },
        { weight: 1, arbitrary: fc.nat(700_000) },
      ),
      gap: fc.integer({ min: -50, max: 500 }),
      run: fc.integer({ min: 1, max: 12 }),
    }),
    { minLength: 1, maxLength: 60, size: 'max' },
  )
  .map((parts) => {
    const events: AnySessionEvent[] = []
    let time = SAMPLE_TIME
    for (const { kind, length, gap, run } of parts) {
      for (let count = 0; count < run && (length < 1000 || count < 2); count++) {
        time += gap
        events.push(event(events.length, time, kind, length))
      }
    }
    return events
  })

function event(seq: number, time: number, kind: Kind, length: number): AnySessionEvent {
  const text = (seq % 3 === 0 ? 'ä' : `${seq} `).repeat(Math.ceil(length / 3)).slice(0, length)
  const step = { turn: 1, step: 1 }
  if (kind === 'note') return { seq, time, type: 'acme/note', data: { text }, ignorable: true }
  if (kind === 'other') return { seq, time, type: 'assistant/chunk', data: { ...step, kind, value: text } }
  if (kind === 'text') return { seq, time, type: 'assistant/chunk', data: { ...step, kind, index: 0, text } }
  return { seq, time, type: 'assistant/chunk', data: { ...step, kind: 'tool-arguments', index: 1, callId: 'c', text } }
}

function split<T>(items: readonly T[], size: number): T[][] {
  const parts: T[][] = []
  for (let at = 0; at < items.length; at += size) parts.push(items.slice(at, at + size))
  return parts
}

const codecs = [undefined, ...(nodeZstd() === undefined ? [] : ['node:zlib' as const])]

describe.each(codecs)('with codec %s', (codec) => {
  it('every range of any log', { timeout: 180_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        logs,
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        fc.array(fc.tuple(fc.nat(400), fc.nat(400)), { minLength: 5, maxLength: 5 }),
        async (events, size, sealed, ranges) => {
          const fileSystem = new MemoryFileSystem('/root')
          const options = { root: '/root', fileSystem, sealAtClose: false, ...(codec === undefined ? {} : { codec }) }
          const storage = jsonlZstdStorage(options)
          await store(storage, 's', split(events, size))
          if (sealed) await storage.seal('s')
          expect(await readAll(storage, 's')).toEqual(events)
          for (const [from, to] of ranges) {
            const expected = events.slice(from, to + 1)
            expect(await readAll(storage, 's', { from, to })).toEqual(expected)
            expect(await readAll(storage, 's', { from, to, reverse: true })).toEqual(expected.reverse())
            expect(await readAll(storage, 's', { from })).toEqual(events.slice(from))
            expect(await readAll(storage, 's', { to, reverse: true })).toEqual(events.slice(0, to + 1).reverse())
            expect(await elided(storage, from, to)).toEqual(countedChunks(events, from, to))
          }
        },
      ),
      { numRuns: 20 * SCALE, interruptAfterTimeLimit: 150_000, endOnFailure: SCALE === 1 },
    )
  })
})

/** Seqs of events, and of chunks that were left out, each by itself. */
async function elided(storage: ReturnType<typeof jsonlZstdStorage>, from: number, to: number): Promise<unknown[]> {
  const reader = await storage.openReader('s')
  const found: unknown[] = []
  for await (const page of reader.read({ from, to, elideChunks: true })) {
    for (const record of page) {
      if (!isElided(record)) found.push(record.type === 'assistant/chunk' ? record.seq : record)
      else for (let at = 0; at < record.count; at++) found.push(record.seq + at)
    }
  }
  await reader.close()
  return found
}

function countedChunks(events: readonly AnySessionEvent[], from: number, to: number): unknown[] {
  return events.slice(from, to + 1).map((record) => (record.type === 'assistant/chunk' ? record.seq : record))
}

it('elided chunks stand for exactly the chunks that are there, cut to the range', async () => {
  const storage = jsonlZstdStorage({ root: await temporaryDirectory(), durability: 'process' })
  await store(storage, 's', SAMPLE_BATCHES)
  const records = async (range: { from?: number; to?: number }): Promise<StoredRecord[]> => {
    const reader = await storage.openReader('s')
    const found: StoredRecord[] = []
    for await (const page of reader.read({ elideChunks: true, ...range })) found.push(...page)
    await reader.close()
    return found
  }
  const others = SAMPLE_EVENTS.filter(({ type }) => type !== 'assistant/chunk')
  expect((await records({})).filter((record) => !isElided(record))).toEqual(others)
  expect((await records({})).filter(isElided)).toEqual([
    { elided: 'assistant/chunk', seq: 3, count: 5, turn: 1, step: 1 },
  ])
  expect(await records({ from: 4, to: 6 })).toEqual([{ elided: 'assistant/chunk', seq: 4, count: 3, turn: 1, step: 1 }])
})

it('the end of a long log costs what the end of a short one does, sealed or not', { timeout: 60_000 }, async () => {
  const bytesRead = async (count: number, sealed: boolean): Promise<readonly number[]> => {
    const root = await temporaryDirectory()
    const options = { root, durability: 'process', sealAtClose: false } as const
    const events = Array.from({ length: count }, (_, seq) => event(seq, SAMPLE_TIME + seq, 'text', 20 + (seq % 40)))
    await store(jsonlZstdStorage(options), 's', split(events, 100))
    if (sealed) await jsonlZstdStorage(options).seal('s')
    const fileSystem = new FaultyFileSystem()
    const storage = jsonlZstdStorage({ ...options, fileSystem })
    const reader = await storage.openReader('s')
    const opened = fileSystem.bytesRead
    for await (const page of reader.read({ from: count - 50 })) expect(page.length).toBeGreaterThan(0)
    await reader.close()
    const writer = await storage.openWriter('s', { kind: 'resume' })
    const read = fileSystem.bytesRead
    await writer.close()
    return [opened, read]
  }
  for (const sealed of [false, true]) {
    const short = await bytesRead(20_000, sealed)
    const long = await bytesRead(200_000, sealed)
    long.forEach((bytes, index) => {
      expect(bytes).toBeLessThan(1.5 * (short[index] ?? 0) + 300_000)
    })
  }
})

it('any place of a log is found by as few reads in a long log as in a short one, sealed or not', {
  timeout: 60_000,
}, async () => {
  const reads = async (count: number, sealed: boolean): Promise<{ readonly open: number; readonly seek: number }> => {
    const root = await temporaryDirectory()
    const options = { root, durability: 'process', sealAtClose: false } as const
    const text = (seq: number): string => createHash('sha256').update(`${seq}`).digest('hex').slice(0, 20)
    const events = Array.from({ length: count }, (_, seq): AnySessionEvent => {
      const data = { turn: 1, step: 1, kind: 'text', index: 0, text: text(seq) }
      return { seq, time: SAMPLE_TIME + seq, type: 'assistant/chunk', data }
    })
    await store(jsonlZstdStorage(options), 's', split(events, 100))
    if (sealed) await jsonlZstdStorage(options).seal('s')
    const fileSystem = new FaultyFileSystem()
    const readsOf = async (work: () => Promise<unknown>): Promise<number> => {
      const before = fileSystem.calls.filter(({ name }) => name === 'read').length
      await work()
      return fileSystem.calls.filter(({ name }) => name === 'read').length - before
    }
    const storage = jsonlZstdStorage({ ...options, fileSystem })
    let writer: StorageWriter | undefined
    const open = await readsOf(async () => {
      writer = await storage.openWriter('s', { kind: 'resume' })
    })
    await writer?.close()
    const seeks: number[] = []
    for (let place = 1; place < 20; place++) {
      const seq = Math.floor((count * place) / 20)
      seeks.push(await readsOf(async () => expect(await readAll(storage, 's', { from: seq, to: seq })).toHaveLength(1)))
    }
    return { open, seek: Math.max(...seeks) }
  }
  for (const sealed of [false, true]) {
    const short = await reads(5000, sealed)
    const long = await reads(100_000, sealed)
    // A sealed frame may be longer than the first look at the end.
    expect(long.open).toBeLessThanOrEqual(short.open + 2)
    // Header and tail, two probes of up to three reads each, and the pages.
    expect(long.seek).toBeLessThanOrEqual(12)
  }
})
