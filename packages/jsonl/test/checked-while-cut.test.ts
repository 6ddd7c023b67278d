// Proves that a check of a log that a writer cuts, or replaces, at that very moment finds no damage: only a log that
// stood still while it was read is called damaged.
import { truncateSync, writeFileSync } from 'node:fs'
import type { AnySessionEvent } from '@session-persistence/core'
import { expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { FaultyFileSystem } from './parts/faulty-file-system.ts'
import { logPath, readLog, SAMPLE_TIME, store, writeLog } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

function batch(from: number, count: number): AnySessionEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const seq = from + index
    return { seq, time: SAMPLE_TIME + seq, type: 'acme/note', data: { text: 'x'.repeat(200) }, ignorable: true }
  })
}

/** A log of two batches, the second of them torn, and what happens to it at each read of a check. */
async function checkAround(during: (path: string, read: number, cut: number) => void): Promise<readonly string[]> {
  const root = await temporaryDirectory()
  await store(jsonlStorage({ root, durability: 'process' }), 's', [batch(0, 300), batch(300, 300)])
  const log = await readLog(root, 's')
  const cut = log.lastIndexOf('{"seq":300,')
  await writeLog(root, 's', log.subarray(0, -20))
  const fileSystem = new FaultyFileSystem()
  const storage = jsonlStorage({ root, fileSystem })
  let reads = 0
  fileSystem.decide = ({ name, path }) => {
    if (name === 'read' && path === logPath(root, 's')) during(path, reads++, cut)
    return undefined
  }
  const { problems } = await storage.check('s')
  return problems.map(({ message }) => message)
}

it.each([0, 1, 2, 3])('a torn tail that is cut before read %i', async (at) => {
  expect(await checkAround((path, read, cut) => (read === at ? truncateSync(path, cut) : undefined))).toEqual([])
})

it('damage that is there stays damage, and a log that never stands still ends the check all the same', async () => {
  const found = await checkAround((path, read) => {
    if (read < 200) writeFileSync(path, 'x'.repeat(70_000 + read))
  })
  expect(found).not.toEqual([])
})
