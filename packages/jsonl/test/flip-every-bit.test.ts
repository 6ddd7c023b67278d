// Proves that no changed bit passes: each is noticed, or reads as the same content.
import { type AnySessionEvent, isSessionError } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { MemoryFileSystem } from './parts/memory-file-system.ts'
import { logPath, SAMPLE_BATCHES, SAMPLE_EVENTS, sampleHeader, store } from './parts/sample-log.ts'

describe.each([{ pack: false }, { pack: true }])('a log written with %o', (options) => {
  it('with every bit flipped', { timeout: 120_000 }, async () => {
    const fileSystem = new MemoryFileSystem('/root')
    const path = logPath('/root', 's')
    const storage = jsonlStorage({ root: '/root', fileSystem, newSalt: () => 0x9f86d081, ...options })
    await store(storage, 's', SAMPLE_BATCHES)
    const whole = fileSystem.bytes(path)
    const outcomes = { refused: 0, same: 0, prefix: 0 }
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const flipped = Buffer.from(whole)
      const at = bit >> 3
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (bit & 7))
      fileSystem.set(path, flipped)
      const given: AnySessionEvent[] = []
      try {
        const reader = await storage.openReader('s')
        expect(reader.header).toEqual(sampleHeader('s'))
        try {
          for await (const page of reader.read({})) given.push(...(page as AnySessionEvent[]))
        } finally {
          await reader.close()
        }
        if (given.length === SAMPLE_EVENTS.length) outcomes.same++
        else outcomes.prefix++
      } catch (error) {
        if (!isSessionError(error, 'CORRUPT')) throw error
        expect(error.offset).toBeTypeOf('number')
        outcomes.refused++
      }
      expect(given).toEqual(SAMPLE_EVENTS.slice(0, given.length))
      const check = await storage.check('s')
      // Nothing that a reader refuses passes the check, and the other way round.
      if (check.problems.length === 0 && check.torn === undefined) expect(given).toEqual(SAMPLE_EVENTS)
    }
    // The last line end is the only byte that means nothing.
    expect(outcomes).toEqual({ refused: whole.length * 8 - 8, same: 8, prefix: 0 })
  })
})
