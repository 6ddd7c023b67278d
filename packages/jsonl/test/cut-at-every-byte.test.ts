// Proves that a log cut at any length reads as a prefix of whole batches, or is refused; never as anything else.
import { isSessionError } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { MemoryFileSystem } from './parts/memory-file-system.ts'
import {
  logPath,
  readAll,
  readLog,
  SAMPLE_BATCHES,
  SAMPLE_EVENTS,
  sampleHeader,
  store,
  writeLog,
} from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

/** Events in the first n batches, for every n. */
const BATCH_ENDS = SAMPLE_BATCHES.map((batch) => batch[0]?.seq ?? 0).concat(SAMPLE_EVENTS.length)

describe.each([{ pack: false }, { pack: true }, { checksum: 'none' as const }])('a log written with %o', (options) => {
  it('cut at every byte', async () => {
    const fileSystem = new MemoryFileSystem('/root')
    const path = logPath('/root', 's')
    const storage = jsonlStorage({ root: '/root', fileSystem, newSalt: () => 7, ...options })
    await store(storage, 's', SAMPLE_BATCHES)
    const whole = fileSystem.bytes(path)
    const headerEnd = whole.indexOf(0x0a) + 1
    const seen = new Set<number>()
    for (let length = 0; length < whole.length; length++) {
      fileSystem.set(path, whole.subarray(0, length))
      if (length < headerEnd) {
        await expect(storage.openReader('s')).rejects.toMatchObject({ code: 'CORRUPT', sessionId: 's' })
        await expect(storage.openWriter('s', { kind: 'resume' })).rejects.toMatchObject({ code: 'CORRUPT' })
        continue
      }
      const events = await readAll(storage, 's')
      expect(events).toEqual(SAMPLE_EVENTS.slice(0, events.length))
      expect(BATCH_ENDS).toContain(events.length)
      seen.add(events.length)
      const writer = await storage.openWriter('s', { kind: 'resume' })
      expect(writer.header).toEqual(sampleHeader('s'))
      expect(writer.tail.nextSeq).toBe(events.length)
      expect(writer.tail.lastTime).toBe(events.at(-1)?.time)
      const { torn } = writer.tail
      await writer.close()
      // What is not part of a batch is torn, to the byte; a lone missing line end is not.
      if (torn !== undefined) expect(torn.offset + torn.bytes).toBe(length)
      else expect(await storage.check('s')).toMatchObject({ events: events.length, problems: [] })
    }
    expect([...seen]).toEqual(BATCH_ENDS)
  })

  it('can be continued from every cut', async () => {
    const fileSystem = new MemoryFileSystem('/root')
    const path = logPath('/root', 's')
    const storage = jsonlStorage({ root: '/root', fileSystem, newSalt: () => 7, ...options })
    await store(storage, 's', SAMPLE_BATCHES)
    const whole = fileSystem.bytes(path)
    for (let length = whole.indexOf(0x0a) + 1; length <= whole.length; length++) {
      fileSystem.set(path, whole.subarray(0, length))
      const writer = await storage.openWriter('s', { kind: 'resume' })
      const { nextSeq, torn } = writer.tail
      if (torn !== undefined) {
        const kept = await writer.discardTornTail()
        expect(kept).toMatchObject(torn)
        expect(fileSystem.bytes(String(kept.keptAt))).toEqual(whole.subarray(torn.offset, length))
        await fileSystem.unlink(String(kept.keptAt))
      }
      if (nextSeq < SAMPLE_EVENTS.length) await writer.append(SAMPLE_EVENTS.slice(nextSeq))
      else await writer.settle()
      await writer.close()
      expect(await readAll(storage, 's')).toEqual(SAMPLE_EVENTS)
      expect(await storage.check('s')).toMatchObject({ events: SAMPLE_EVENTS.length, problems: [] })
    }
  })
})

it('refuses to append before a torn tail was moved aside', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root, durability: 'process' })
  await store(storage, 's', SAMPLE_BATCHES)
  await writeLog(root, 's', Buffer.concat([await readLog(root, 's'), Buffer.from('{"seq":12')]))
  const writer = await storage.openWriter('s', { kind: 'resume' })
  const refused = writer.append([{ ...SAMPLE_EVENTS[0], seq: 12, time: 1, type: 'turn/start', data: {} }])
  await expect(refused).rejects.toSatisfy((error) => isSessionError(error, 'INVARIANT'))
  await writer.close()
})
