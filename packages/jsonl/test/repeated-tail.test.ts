// Proves that a log of which the last batches stand twice is not opened for writing, however many they are.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { MemoryFileSystem } from './parts/memory-file-system.ts'
import { logPath, sampleHeader } from './parts/sample-log.ts'
import { SCALE } from './parts/scale.ts'

const ROOT = '/root'

it('for any batches and any number of them', { timeout: 60_000 }, async () => {
  const sizes = fc.array(fc.record({ events: fc.integer({ min: 1, max: 4 }), text: fc.nat(3000) }), {
    minLength: 2,
    maxLength: 60,
  })
  await fc.assert(
    fc.asyncProperty(
      sizes,
      fc.nat(),
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      async (batches, cut, times, pack) => {
        const fileSystem = new MemoryFileSystem(ROOT)
        const storage = jsonlStorage({ root: ROOT, fileSystem, pack })
        const path = logPath(ROOT, 's')
        const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
        const ends: number[] = []
        let seq = 0
        for (const { events, text } of batches) {
          const data = { turn: 1, step: 1, kind: 'text', index: 0, text: 'x'.repeat(text) }
          await writer.append(
            Array.from({ length: events }, () => ({ seq: seq++, time: 5, type: 'assistant/chunk', data })),
          )
          ends.push(fileSystem.bytes(path).length)
        }
        await writer.close()
        const whole = fileSystem.bytes(path)
        const again = await storage.openWriter('s', { kind: 'resume' })
        expect(again.tail.nextSeq).toBe(seq)
        await again.close()
        // What stands behind the n-th batch, once more.
        const tail = whole.subarray(ends[cut % (ends.length - 1)])
        fileSystem.set(path, Buffer.concat([whole, ...Array.from({ length: times }, () => tail)]))
        await expect(storage.openWriter('s', { kind: 'resume' })).rejects.toMatchObject({
          code: 'CORRUPT',
          sessionId: 's',
        })
      },
    ),
    { numRuns: Math.round(60 * SCALE) },
  )
})
