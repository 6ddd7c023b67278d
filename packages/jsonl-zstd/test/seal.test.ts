// Proves that sealing changes nothing that can be read, merges what is small and nothing else, happens by itself where
// it pays, disturbs no reader, and leaves one of two equal logs wherever it is stopped.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AnySessionEvent } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { EIO, type Fault, FaultyFileSystem } from '../../jsonl/test/parts/faulty-file-system.ts'
import { readAll, SAMPLE_TIME, sampleHeader, store } from '../../jsonl/test/parts/sample-log.ts'
import { temporaryDirectory } from '../../jsonl/test/parts/temporary-directory.ts'
import { jsonlZstdStorage, openJsonlZstd, sealSession } from '../src/index.ts'
import { readLog, unitsOf, writeLog } from './parts/frame-log.ts'

/** Deltas of two blocks, one event a batch, with a message now and then. */
function deltas(count: number, from = 0): readonly (readonly AnySessionEvent[])[] {
  return Array.from({ length: count }, (_, index) => {
    const seq = from + index
    const time = SAMPLE_TIME + 7 * seq
    if (seq % 50 === 49) return [{ seq, time, type: 'acme/note', data: { n: seq }, ignorable: true }]
    const data = { turn: 1, step: 1, kind: 'text', index: seq % 100 < 50 ? 0 : 1, text: ` word${seq % 17}` }
    return [{ seq, time, type: 'assistant/chunk', data }]
  })
}

describe('sealing', () => {
  it('merges small frames into few large ones, with the same events, seqs and times', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlZstdStorage({ root, durability: 'process', sealAtClose: false })
    await store(storage, 's', deltas(500))
    const before = await readLog(root, 's')
    const report = await storage.seal('s')
    const after = await readLog(root, 's')
    expect(report).toEqual({ batches: 500, bytesBefore: before.length, bytesAfter: after.length })
    expect(after.length).toBeLessThan(before.length / 10)
    expect(unitsOf(after)).toHaveLength(2)
    expect(await readAll(storage, 's')).toEqual(deltas(500).flat())
    expect(await storage.check('s')).toMatchObject({ events: 500, problems: [] })
    expect(await readdir(join(root, 's'))).toEqual(['session.jsonl.zst'])
    expect(await storage.list({ limit: 1 })).toMatchObject([{ events: 500, updatedAt: SAMPLE_TIME + 7 * 499 }])
  })

  it('again changes nothing, and after more batches merges them with the last frame, which was not full', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlZstdStorage({ root, durability: 'process', sealAtClose: false })
    await store(storage, 's', deltas(100))
    await storage.seal('s')
    const once = await readLog(root, 's')
    expect(await storage.seal('s')).toEqual({ batches: 0, bytesBefore: once.length, bytesAfter: once.length })
    expect(await readLog(root, 's')).toEqual(once)
    const writer = await storage.openWriter('s', { kind: 'resume' })
    for (const batch of deltas(100, 100)) await writer.append(batch)
    await writer.close()
    expect(await storage.seal('s')).toMatchObject({ batches: 101 })
    expect(unitsOf(await readLog(root, 's'))).toHaveLength(2)
    expect(await readAll(storage, 's')).toEqual(deltas(200).flat())
  })

  it('leaves what is full as it is, byte for byte', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlZstdStorage({ root, durability: 'process', sealAtClose: false })
    const note = (seq: number): AnySessionEvent => ({
      seq,
      time: SAMPLE_TIME,
      type: 'acme/note',
      data: { text: `${seq} `.repeat(8000) },
      ignorable: true,
    })
    const notes = Array.from({ length: 40 }, (_, seq) => [note(seq)])
    await store(storage, 's', notes)
    await storage.seal('s')
    const once = await readLog(root, 's')
    const full = unitsOf(once).slice(1, -1)
    expect(full.length).toBeGreaterThan(1)
    const writer = await storage.openWriter('s', { kind: 'resume' })
    for (let seq = 40; seq < 50; seq++) await writer.append([note(seq)])
    await writer.close()
    await storage.seal('s')
    const kept = full.at(-1)?.end ?? 0
    expect((await readLog(root, 's')).subarray(0, kept)).toEqual(once.subarray(0, kept))
    expect(await readAll(storage, 's')).toEqual(Array.from({ length: 50 }, (_, seq) => note(seq)))
  })

  it('packs runs across the batches that they were written in', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlZstdStorage({ root, durability: 'process', sealAtClose: false })
    const chunks = Array.from({ length: 3000 }, (_, seq): AnySessionEvent[] => [
      {
        seq,
        time: SAMPLE_TIME + seq,
        type: 'assistant/chunk',
        data: { turn: 1, step: 1, kind: 'text', index: 0, text: 'x' },
      },
    ])
    await store(storage, 's', chunks)
    await storage.seal('s')
    const inOneBatch = jsonlZstdStorage({ root, durability: 'process', newSalt: () => 1 })
    await store(inOneBatch, 'packed', [chunks.flat()])
    expect((await readLog(root, 's')).length).toBeLessThan((await readLog(root, 'packed')).length + 10)
    expect(await readAll(storage, 's')).toEqual(chunks.flat())
  })
})

describe('at close', () => {
  it('a session of many small batches is sealed, one of few is not, and none where the option says so', async () => {
    for (const [count, options, sealed] of [
      [31, {}, false],
      [32, {}, true],
      [200, { sealAtClose: false }, false],
    ] as const) {
      const root = await temporaryDirectory()
      await store(jsonlZstdStorage({ root, durability: 'process', ...options }), 's', deltas(count))
      expect(unitsOf(await readLog(root, 's'))).toHaveLength(sealed ? 2 : count + 1)
    }
  })

  it('of a session, receipts and snapshots keep their meaning', async () => {
    const root = await temporaryDirectory()
    const persistence = await openJsonlZstd({ root, durability: 'process' })
    const session = await persistence.create({ id: 's' })
    session.append('turn/start', { turn: 1 })
    session.append('step/start', { turn: 1, step: 1 })
    for (let index = 0; index < 100; index++) {
      session.append('assistant/chunk', { turn: 1, step: 1, kind: 'text', index: 0, text: `${index} ` })
      await session.flush()
    }
    const head = await session.flush()
    await session.close()
    expect(unitsOf(await readLog(root, 's'))).toHaveLength(2)
    const again = await persistence.resume('s', { expectHead: head, openTurn: 'keep' })
    expect(again.nextSeq).toBe(102)
    await again.close()
    expect(await persistence.verify('s', { expectHead: head })).toMatchObject({ ok: true })
    await persistence.close()
  })

  it('a damaged log is left as it is', async () => {
    const root = await temporaryDirectory()
    const options = { root, durability: 'process', sealAtClose: false } as const
    await store(jsonlZstdStorage(options), 's', deltas(100))
    const log = await readLog(root, 's')
    const unit = unitsOf(log)[20]
    log[(unit?.start ?? 0) + 10] = (log[(unit?.start ?? 0) + 10] ?? 0) ^ 1
    await writeLog(root, 's', log)
    const writer = await jsonlZstdStorage({ root, durability: 'process' }).openWriter('s', { kind: 'resume' })
    await writer.append(deltas(1, 100).flat())
    await writer.close()
    const after = await readLog(root, 's')
    expect(after.subarray(0, log.length)).toEqual(log)
    await expect(jsonlZstdStorage(options).seal('s')).rejects.toMatchObject({ code: 'CORRUPT', seq: 19 })
    expect(await readLog(root, 's')).toEqual(after)
    expect(await readdir(join(root, 's'))).toEqual(['session.jsonl.zst'])
  })
})

describe('others meanwhile', () => {
  it('a reader that was open before reads on in the old file, one that follows goes on in the new', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlZstdStorage({ root, durability: 'process', sealAtClose: false })
    await store(storage, 's', deltas(100))
    const reader = await storage.openReader('s')
    const pages = reader.read({})[Symbol.asyncIterator]()
    const changed = reader.changed()
    await storage.seal('s')
    expect(await changed).toBe('changed')
    const events: unknown[] = []
    for (let page = await pages.next(); page.done !== true; page = await pages.next()) events.push(...page.value)
    expect(events).toEqual(deltas(100).flat())
    await reader.close()
  })

  it('who follows a session goes on in the new file by seq', async () => {
    const root = await temporaryDirectory()
    const persistence = await openJsonlZstd({ root, durability: 'process' })
    const write = async (count: number): Promise<void> => {
      const session =
        count === 0 ? await persistence.create({ id: 's' }) : await persistence.resume('s', { openTurn: 'keep' })
      for (let index = 0; index < 40; index++) {
        session.append('user/message', { message: { role: 'user', content: `${count} ${index}` } })
        await session.flush()
      }
      // Forty small frames become one.
      await session.close()
    }
    await write(0)
    const seen: number[] = []
    const reading = (async () => {
      for await (const event of persistence.follow('s')) {
        seen.push(event.seq)
        if (seen.length === 121) return
      }
    })()
    await write(1)
    await write(2)
    await reading
    // Each resume adds an event of its own.
    expect(seen).toEqual(Array.from({ length: 121 }, (_, seq) => seq))
    expect(unitsOf(await readLog(root, 's'))).toHaveLength(2)
    await persistence.close()
  })

  it('a writer keeps it out', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlZstdStorage({ root, durability: 'process', sealAtClose: false })
    await store(storage, 's', deltas(40))
    const writer = await storage.openWriter('s', { kind: 'resume' })
    await expect(sealSession({ root, durability: 'process' }, 's')).rejects.toMatchObject({
      code: 'LOCKED',
      sessionId: 's',
    })
    await writer.close()
    expect(await sealSession({ root, durability: 'process' }, 's')).toMatchObject({ batches: 40 })
  })

  it('what is not there cannot be sealed, and an abort leaves everything as it was', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlZstdStorage({ root, durability: 'process', sealAtClose: false })
    await expect(storage.seal('s')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await store(storage, 's', deltas(40))
    const before = await readLog(root, 's')
    const reason = new Error('stop')
    await expect(storage.seal('s', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(await readLog(root, 's')).toEqual(before)
  })

  it('a torn tail is moved aside first', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlZstdStorage({ root, durability: 'process', sealAtClose: false })
    await store(storage, 's', deltas(40))
    const whole = await readLog(root, 's')
    await writeLog(root, 's', whole.subarray(0, -10))
    expect(await storage.seal('s')).toMatchObject({ batches: 39 })
    expect(await readAll(storage, 's')).toEqual(deltas(39).flat())
    expect((await readdir(join(root, 's'))).sort()).toEqual([
      expect.stringMatching(/^session/),
      expect.stringMatching(/^torn-/),
    ])
  })
})

const FAULTS: readonly Fault[] = [
  EIO,
  { code: 'EIO', errno: -5, effect: 'after' },
  { code: 'ENOSPC', errno: -28, effect: 'half' },
]

describe.each(FAULTS)('stopped at any call by $code ($effect)', (fault) => {
  it.each(['asked', 'close'] as const)(
    'when %s, the log is whole, old or new',
    { timeout: 120_000 },
    async (occasion) => {
      for (let index = 0, calls = 1; index < calls; index++) {
        const root = await temporaryDirectory()
        await store(jsonlZstdStorage({ root, durability: 'process', sealAtClose: false }), 's', deltas(60))
        const fs = new FaultyFileSystem()
        const storage = jsonlZstdStorage({ root, fileSystem: fs, sealAtClose: occasion === 'close' })
        if (occasion === 'asked') {
          // As if the process had died there: nothing works any more.
          fs.failAt(index, fault, true)
          await storage.seal('s').catch(() => {})
        } else {
          const writer = await storage.openWriter('s', { kind: 'resume' })
          await writer.settle()
          const before = fs.calls.length
          fs.failAt(index, fault, true)
          // The events are durable: sealing that fails is no failure of closing.
          await writer.close().catch(() => {})
          calls = Math.max(calls, fs.calls.length - before)
        }
        calls = Math.max(calls, fs.calls.length)
        fs.heal()
        const healthy = jsonlZstdStorage({ root, sealAtClose: false })
        expect(await readAll(healthy, 's')).toEqual(deltas(60).flat())
        expect(await healthy.check('s')).toMatchObject({ events: 60, problems: [] })
        // The next writer of a process sweeps what was left, and goes on.
        const writer = await healthy.openWriter('s', { kind: 'resume' })
        await writer.append(deltas(1, 60).flat())
        await writer.close()
        expect(await readdir(join(root, 's'))).toEqual(['session.jsonl.zst'])
        expect(await readAll(healthy, 's')).toEqual(deltas(61).flat())
      }
    },
  )
})

it('a format of single lines has nothing to seal', async () => {
  const { jsonlStorage } = await import('../../jsonl/src/index.ts')
  const storage = jsonlStorage({ root: await temporaryDirectory() })
  await store(storage, 's', deltas(3))
  expect('seal' in storage).toBe(true)
  await expect((storage as ReturnType<typeof jsonlZstdStorage>).seal('s')).rejects.toMatchObject({
    code: 'NOT_SUPPORTED',
  })
  expect(sampleHeader('s').id).toBe('s')
})
