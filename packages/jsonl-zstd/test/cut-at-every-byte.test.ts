// Proves that a log cut at any length reads as a prefix of whole batches, or is refused; never as anything else.
import { describe, expect, it } from 'vitest'
import { MemoryFileSystem } from '../../jsonl/test/parts/memory-file-system.ts'
import { readAll, SAMPLE_BATCHES, SAMPLE_EVENTS, sampleHeader, store } from '../../jsonl/test/parts/sample-log.ts'
import { jsonlZstdStorage } from '../src/index.ts'
import { logPath, unitsOf } from './parts/frame-log.ts'

/** Events in the first n batches, for every n. */
const BATCH_ENDS = [0]
for (const batch of SAMPLE_BATCHES) BATCH_ENDS.push((BATCH_ENDS.at(-1) ?? 0) + batch.length)

async function storedSample(): Promise<{
  readonly fileSystem: MemoryFileSystem
  readonly path: string
  readonly storage: ReturnType<typeof jsonlZstdStorage>
  readonly whole: Buffer
}> {
  const fileSystem = new MemoryFileSystem('/root')
  const path = logPath('/root', 's')
  const storage = jsonlZstdStorage({ root: '/root', fileSystem, newSalt: () => 7 })
  await store(storage, 's', SAMPLE_BATCHES)
  return { fileSystem, path, storage, whole: fileSystem.bytes(path) }
}

describe('a log of five units', () => {
  it('cut at every byte', { timeout: 120_000 }, async () => {
    const { fileSystem, path, storage, whole } = await storedSample()
    const units = unitsOf(whole)
    const headerEnd = units[0]?.end ?? 0
    for (let length = 0; length < whole.length; length++) {
      fileSystem.set(path, whole.subarray(0, length))
      if (length < headerEnd) {
        await expect(storage.openReader('s')).rejects.toMatchObject({ code: 'CORRUPT', sessionId: 's' })
        await expect(storage.openWriter('s', { kind: 'resume' })).rejects.toMatchObject({ code: 'CORRUPT' })
        continue
      }
      const batches = units.filter(({ end }) => end <= length).length - 1
      const events = await readAll(storage, 's')
      expect(events).toEqual(SAMPLE_EVENTS.slice(0, BATCH_ENDS[batches]))
      const writer = await storage.openWriter('s', { kind: 'resume' })
      expect(writer.header).toEqual(sampleHeader('s'))
      expect(writer.tail.nextSeq).toBe(events.length)
      expect(writer.tail.lastTime).toBe(events.at(-1)?.time)
      const { torn } = writer.tail
      await writer.close()
      const end = units[batches]?.end ?? 0
      expect(torn).toEqual(end === length ? undefined : { offset: end, bytes: length - end })
    }
  })

  it('can be continued from every cut', { timeout: 120_000 }, async () => {
    const { fileSystem, path, storage, whole } = await storedSample()
    const headerEnd = unitsOf(whole)[0]?.end ?? 0
    for (let length = headerEnd; length <= whole.length; length++) {
      fileSystem.set(path, whole.subarray(0, length))
      const writer = await storage.openWriter('s', { kind: 'resume' })
      const { nextSeq, torn } = writer.tail
      if (torn !== undefined) expect(await writer.discardTornTail()).toMatchObject(torn)
      if (nextSeq < SAMPLE_EVENTS.length) await writer.append(SAMPLE_EVENTS.slice(nextSeq))
      else await writer.settle()
      await writer.close()
      expect(await readAll(storage, 's')).toEqual(SAMPLE_EVENTS)
      expect(await storage.check('s')).toMatchObject({ events: SAMPLE_EVENTS.length, problems: [] })
    }
  })

  it('cut at every byte and continued with NULs is torn, or refused in its header', { timeout: 120_000 }, async () => {
    const { fileSystem, path, storage, whole } = await storedSample()
    const units = unitsOf(whole)
    for (let length = units[0]?.end ?? 0; length < whole.length; length++) {
      fileSystem.set(path, Buffer.concat([whole.subarray(0, length), Buffer.alloc(700)]))
      const batches = units.filter(({ end }) => end <= length).length - 1
      const reader = await storage.openReader('s')
      const end = units[batches]?.end ?? 0
      expect(reader.tail.torn).toEqual({ offset: end, bytes: length + 700 - end })
      await reader.close()
      expect(await readAll(storage, 's')).toEqual(SAMPLE_EVENTS.slice(0, BATCH_ENDS[batches]))
    }
  })
})
