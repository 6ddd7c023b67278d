// Proves that after an error at any call of an append nothing acknowledged is lost, nothing is stored twice, and the
// same batch goes through once the medium is well again: a batch is encoded anew for the place that it then gets.
import { isSessionError, type StorageWriter } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { EIO, type Fault, FaultyFileSystem } from '../../jsonl/test/parts/faulty-file-system.ts'
import { readAll, SAMPLE_BATCHES, sampleHeader } from '../../jsonl/test/parts/sample-log.ts'
import { temporaryDirectory } from '../../jsonl/test/parts/temporary-directory.ts'
import { jsonlZstdStorage } from '../src/index.ts'

const FAULTS: readonly Fault[] = [
  EIO,
  { code: 'EIO', errno: -5, effect: 'after' },
  { code: 'ENOSPC', errno: -28, effect: 'half' },
]

async function appendStubbornly(
  writer: StorageWriter,
  fs: FaultyFileSystem,
  events: Parameters<StorageWriter['append']>[0],
): Promise<void> {
  for (let tries = 0; tries < 4; tries++) {
    try {
      await writer.append(events)
      return
    } catch (error) {
      if (!isSessionError(error)) throw error
      if (tries === 1) fs.heal()
    }
  }
  throw new Error('it never worked again')
}

describe.each(FAULTS)('with $code ($effect)', (fault) => {
  it('at every call of three appends', { timeout: 120_000 }, async () => {
    for (let index = 0, calls = 1; index < calls; index++) {
      const root = await temporaryDirectory()
      const fs = new FaultyFileSystem()
      const storage = jsonlZstdStorage({ root, fileSystem: fs })
      const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
      const before = fs.calls.length
      fs.failAt(index, fault)
      const [first = [], second = [], third = [], rest = []] = SAMPLE_BATCHES
      for (const batch of [first, second, third]) await appendStubbornly(writer, fs, batch)
      calls = Math.max(calls, fs.calls.length - before)
      fs.heal()
      await appendStubbornly(writer, fs, rest)
      await writer.close()
      const healthy = jsonlZstdStorage({ root })
      expect(await readAll(healthy, 's')).toEqual(SAMPLE_BATCHES.flat())
      expect(await healthy.check('s')).toMatchObject({ problems: [] })
    }
  })
})
