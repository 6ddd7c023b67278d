// Proves that a reader whose log is cut, rewritten or replaced under it looks once more before it speaks of damage, and
// gives nothing twice; and that following wakes for every change.
import { appendFile, rm, truncate, utimes } from 'node:fs/promises'
import type { AnySessionEvent } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { FaultyFileSystem } from './parts/faulty-file-system.ts'
import { logPath, readLog, SAMPLE_TIME, sampleHeader, store, writeLog } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

function batch(from: number, count: number, text: string): AnySessionEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const seq = from + index
    return { seq, time: SAMPLE_TIME + seq, type: 'acme/note', data: { text }, ignorable: true }
  })
}

const FIRST = batch(0, 3000, 'x'.repeat(200))

/** Reads everything, and does something between the first page and the next. */
async function readAround(
  storage: ReturnType<typeof jsonlStorage>,
  between: () => Promise<void>,
): Promise<{ readonly events: AnySessionEvent[]; readonly error: unknown }> {
  const reader = await storage.openReader('s')
  const events: AnySessionEvent[] = []
  let error: unknown
  try {
    for await (const page of reader.read({})) {
      if (events.length === 0) await between()
      events.push(...(page as AnySessionEvent[]))
    }
  } catch (thrown) {
    error = thrown
  }
  await reader.close()
  return { events, error }
}

describe('a tail that was never acknowledged', () => {
  it('and is rewritten in another form is read in that form', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlStorage({ root, durability: 'process', newSalt: () => 1 })
    await store(storage, 's', [FIRST, batch(3000, 3000, 'old')])
    const old = await readLog(root, 's')
    const cut = old.lastIndexOf(`{"seq":3000,`)
    await storage.delete('s')
    await store(storage, 's', [FIRST, batch(3000, 3000, 'new')])
    const rewritten = await readLog(root, 's')
    await writeLog(root, 's', old)
    const { events, error } = await readAround(storage, async () => {
      await truncate(logPath(root, 's'), cut)
      await appendFile(logPath(root, 's'), rewritten.subarray(cut))
    })
    expect(error).toBeUndefined()
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 6000 }, (_, seq) => seq))
    expect(events.at(-1)?.data).toEqual({ text: 'new' })
  })

  it('and is cut ends the read', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlStorage({ root, durability: 'process' })
    await store(storage, 's', [FIRST, batch(3000, 3000, 'old')])
    const cut = (await readLog(root, 's')).lastIndexOf(`{"seq":3000,`)
    const { events, error } = await readAround(storage, () => truncate(logPath(root, 's'), cut))
    expect(error).toBeUndefined()
    expect(events).toEqual(FIRST)
  })
})

it('a snapshot does not grow with the log, nor change when the log is replaced', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root, durability: 'process' })
  await store(storage, 's', [FIRST, batch(3000, 3000, 'old')])
  const { events, error } = await readAround(storage, async () => {
    const writer = await storage.openWriter('s', { kind: 'resume' })
    await writer.append(batch(6000, 10, 'later'))
    await writer.rewrite(sampleHeader('s'), pages([batch(0, 1, 'other')]))
    await writer.close()
  })
  expect(error).toBeUndefined()
  expect(events).toEqual([...FIRST, ...batch(3000, 3000, 'old')])
})

async function* pages<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

it('damage that stays is reported once, where it is', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root, durability: 'process' })
  await store(storage, 's', [FIRST, batch(3000, 3000, 'old')])
  const bytes = await readLog(root, 's')
  const offset = bytes.lastIndexOf(`{"seq":4000,`)
  const { events, error } = await readAround(storage, () =>
    writeLog(root, 's', bytes.fill(0, offset + 20, offset + 30)),
  )
  expect(error).toMatchObject({ code: 'CORRUPT', seq: 4000, offset })
  expect(events).toHaveLength(4000)
})

it('ends when asked to: by return, by an abort before and during, and closes what it opened', async () => {
  const root = await temporaryDirectory()
  const fs = new FaultyFileSystem()
  await store(jsonlStorage({ root, durability: 'process' }), 's', [FIRST, batch(3000, 3000, 'old')])
  const storage = jsonlStorage({ root, fileSystem: fs })
  const reader = await storage.openReader('s')
  const reason = new Error('enough')
  for await (const page of reader.read({})) {
    expect(page.length).toBeGreaterThan(0)
    break
  }
  const before = reader.read({ signal: AbortSignal.abort(reason) })[Symbol.asyncIterator]()
  await expect(before.next()).rejects.toBe(reason)
  const controller = new AbortController()
  const during = reader.read({ signal: controller.signal })[Symbol.asyncIterator]()
  await during.next()
  controller.abort(reason)
  await expect(during.next()).rejects.toBe(reason)
  await reader.close()
  await reader.close()
  const names = fs.calls.map(({ name }) => name)
  expect(names.filter((name) => name === 'close')).toHaveLength(names.filter((name) => name.startsWith('open')).length)
})

describe('changed', () => {
  it.each<[string, (root: string, storage: ReturnType<typeof jsonlStorage>) => Promise<unknown>, string]>([
    ['grew', (root) => appendFile(logPath(root, 's'), 'x'), 'changed'],
    ['shrank', (root) => truncate(logPath(root, 's'), 50), 'changed'],
    ['was touched', (root) => utimes(logPath(root, 's'), 1, 1), 'changed'],
    ['was deleted', (_, storage) => storage.delete('s'), 'deleted'],
    ['vanished with its root', (root) => rm(root, { recursive: true }), 'deleted'],
  ])('resolves when the log %s', async (_, change, expected) => {
    const root = await temporaryDirectory()
    const storage = jsonlStorage({ root, durability: 'process' })
    await store(storage, 's', [FIRST])
    const reader = await storage.openReader('s')
    const changed = reader.changed()
    await change(root, storage)
    expect(await changed).toBe(expected)
    await reader.close()
  })

  it('rejects with the reason of an abort, before and while it waits', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlStorage({ root, durability: 'process' })
    await store(storage, 's', [FIRST])
    const reader = await storage.openReader('s')
    const reason = new Error('enough')
    await expect(reader.changed(AbortSignal.abort(reason))).rejects.toBe(reason)
    const controller = new AbortController()
    const waiting = reader.changed(controller.signal)
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await reader.close()
  })
})
