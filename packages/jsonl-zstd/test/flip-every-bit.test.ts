// Proves that no changed bit passes, and that none is taken for the torn end of a log.
import { type AnySessionEvent, isSessionError } from '@session-persistence/core'
import { expect, it } from 'vitest'
import { MemoryFileSystem } from '../../jsonl/test/parts/memory-file-system.ts'
import { SAMPLE_BATCHES, SAMPLE_EVENTS, sampleHeader, store } from '../../jsonl/test/parts/sample-log.ts'
import { jsonlZstdStorage } from '../src/index.ts'
import { logPath, unitsOf } from './parts/frame-log.ts'

it.each([{ sealed: false }, { sealed: true }])(
  'a log with every bit flipped, %o',
  { timeout: 300_000 },
  async (how) => {
    const fileSystem = new MemoryFileSystem('/root')
    const path = logPath('/root', 's')
    const storage = jsonlZstdStorage({ root: '/root', fileSystem, newSalt: () => 0x9f86d081 })
    await store(storage, 's', SAMPLE_BATCHES)
    if (how.sealed) expect(await storage.seal('s')).toMatchObject({ batches: SAMPLE_BATCHES.length })
    const whole = fileSystem.bytes(path)
    const units = unitsOf(whole)
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const flipped = Buffer.from(whole)
      const at = bit >> 3
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (bit & 7))
      fileSystem.set(path, flipped)
      const given: AnySessionEvent[] = []
      let refusal: unknown
      try {
        const reader = await storage.openReader('s')
        expect(reader.tail.torn).toBeUndefined()
        expect(reader.header).toEqual(sampleHeader('s'))
        try {
          for await (const page of reader.read({})) given.push(...(page as AnySessionEvent[]))
        } finally {
          await reader.close()
        }
      } catch (error) {
        refusal = error
      }
      if (!isSessionError(refusal, 'CORRUPT')) throw new Error(`bit ${bit} passed`, { cause: refusal })
      // Everything before the damage is read, and the unit that holds it is named.
      expect(refusal.offset).toBe(units.findLast(({ start }) => start <= at)?.start)
      expect(given).toEqual(SAMPLE_EVENTS.slice(0, given.length))
      if (refusal.seq !== undefined) expect(given.length).toBe(refusal.seq)
      const check = await storage.check('s')
      expect(check.torn).toBeUndefined()
      expect(check.problems).toHaveLength(1)
    }
  },
)
