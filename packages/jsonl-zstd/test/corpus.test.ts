// Proves that real logs, each of their records an event, come back to the value, in any batches, sealed or not.
import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { AnySessionEvent } from '@session-persistence/core'
import { expect, it } from 'vitest'
import { MemoryFileSystem } from '../../jsonl/test/parts/memory-file-system.ts'
import { readAll, store } from '../../jsonl/test/parts/sample-log.ts'
import { jsonlZstdStorage } from '../src/index.ts'

const CORPUS = fileURLToPath(new URL('../../../../shared/corpus/', import.meta.url))
const absent = !existsSync(CORPUS)
const files = absent
  ? []
  : readdirSync(CORPUS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))

/** The objects on the lines of a file; what is damaged there is for the readers of that format. */
async function records(path: string): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    try {
      found.push(JSON.parse(line))
    } catch {
      // Not whole.
    }
  }
  return found
}

const title = absent ? 'every real log (skipped: no corpus at ../shared/corpus)' : 'every real log'

it.skipIf(absent)(`${title} comes back`, { timeout: 300_000 }, async () => {
  let events = 0
  for (const name of files) {
    const log = (await records(join(CORPUS, name))).map((data, seq): AnySessionEvent => {
      const { time } = (data ?? {}) as { time?: unknown }
      const at = Number.isSafeInteger(time) ? (time as number) : seq
      return { seq, time: at, type: 'corpus/record', data, ignorable: true }
    })
    if (log.length === 0) continue
    const batches: AnySessionEvent[][] = []
    for (let at = 0, size = 1; at < log.length; at += size, size = 1 + ((size * 7) % 50))
      batches.push(log.slice(at, at + size))
    const fileSystem = new MemoryFileSystem('/root')
    const storage = jsonlZstdStorage({ root: '/root', fileSystem, sealAtClose: false })
    await store(storage, name, batches)
    expect(await readAll(storage, name)).toEqual(log)
    await storage.seal(name)
    expect(await readAll(storage, name)).toEqual(log)
    expect(await storage.check(name)).toMatchObject({ events: log.length, problems: [] })
    events += log.length
  }
  expect(events).toBeGreaterThan(1000)
})
