// Proves that a rewrite is one step that keeps the original, that the same writer goes on behind it, and that derived
// documents are whole or absent.
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AnySessionEvent } from '@session-persistence/core'
import { expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { EIO, FaultyFileSystem } from './parts/faulty-file-system.ts'
import { readAll, readLog, SAMPLE_BATCHES, SAMPLE_EVENTS, sampleHeader, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const OTHER: readonly AnySessionEvent[] = SAMPLE_EVENTS.map((event) => ({ ...event, time: event.time + 1 }))
const NEXT: AnySessionEvent = { seq: SAMPLE_EVENTS.length, time: 1, type: 'acme/note', data: 1 }

async function* pages(events: readonly AnySessionEvent[] = OTHER): AsyncGenerator<readonly AnySessionEvent[]> {
  yield events.slice(0, 5)
  yield []
  yield events.slice(5)
}

it('replaces header and events, keeps the original, and goes on', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root })
  await store(storage, 's', SAMPLE_BATCHES)
  const original = await readLog(root, 's')
  const writer = await storage.openWriter('s', { kind: 'resume' })
  const header = { ...sampleHeader('s'), origin: 'rewritten' }
  const keptAt = await writer.rewrite(header, pages(), 'v0')
  expect(keptAt).toBe(join(root, 's', 'session.jsonl.v0'))
  expect((await readFile(String(keptAt))).equals(original)).toBe(true)
  expect(writer.header).toEqual(header)
  expect(writer.tail.nextSeq).toBe(OTHER.length)
  await writer.append([NEXT])
  expect(await writer.rewrite(header, pages([...OTHER, NEXT]))).toBeUndefined()
  await writer.close()
  expect(await readAll(storage, 's')).toEqual([...OTHER, NEXT])
  expect((await readdir(join(root, 's'))).sort()).toEqual(['session.jsonl', 'session.jsonl.v0'])
})

it('that fails at any call leaves the old log or the new one, whole, and nothing else', async () => {
  for (let index = 0, calls = 1; index < calls; index++) {
    const root = await temporaryDirectory()
    const fs = new FaultyFileSystem()
    await store(jsonlStorage({ root }), 's', SAMPLE_BATCHES)
    const storage = jsonlStorage({ root, fileSystem: fs })
    const writer = await storage.openWriter('s', { kind: 'resume' })
    const before = fs.calls.length
    fs.failAt(index, EIO)
    const failed = await writer.rewrite(sampleHeader('s'), pages(), 'v0').then(
      () => undefined,
      (error: unknown) => error,
    )
    calls = fs.calls.length - before
    fs.heal()
    const events = await readAll(jsonlStorage({ root }), 's')
    if (failed === undefined) expect(events).toEqual(OTHER)
    else if ((failed as { code: string }).code === 'POISONED') {
      // Replaced, but perhaps not for ever: only opening it again can tell.
      expect(events).toEqual(OTHER)
      await expect(writer.append([NEXT])).rejects.toMatchObject({ code: 'POISONED' })
    } else {
      expect(failed).toMatchObject({ code: 'IO' })
      expect(events).toEqual(SAMPLE_EVENTS)
      await writer.append([NEXT])
    }
    await writer.close()
    const again = await jsonlStorage({ root }).openWriter('s', { kind: 'resume' })
    await again.close()
    expect((await readdir(join(root, 's'))).filter((name) => name.startsWith('.tmp-'))).toEqual([])
  }
})

it('that fails at any call leaves no new log with documents of the old one, and makes sure of that before it renames', async () => {
  for (let index = 0, calls = 1; index < calls; index++) {
    const root = await temporaryDirectory()
    const fs = new FaultyFileSystem()
    await store(jsonlStorage({ root }), 's', SAMPLE_BATCHES)
    const documents = ['snapshots.json', 'summary.json'].map((name) => join(root, 's', name))
    for (const path of documents) await writeFile(path, '{}')
    const writer = await jsonlStorage({ root, fileSystem: fs }).openWriter('s', { kind: 'resume' })
    const before = fs.calls.length
    fs.failAt(index, EIO)
    await writer.rewrite(sampleHeader('s'), pages()).catch(() => {})
    calls = fs.calls.length - before
    const made = fs.calls.slice(before)
    fs.heal()
    await writer.close()
    const left = (await readdir(join(root, 's'))).filter((name) => name.endsWith('.json'))
    const events = await readAll(jsonlStorage({ root }), 's')
    if (events[0]?.time === OTHER[0]?.time) {
      expect(left).toEqual([])
      const renamed = made.findIndex(({ name, path }) => name === 'rename' && !path.endsWith('.json'))
      const removed = made.findLastIndex(({ name, path }) => name === 'unlink' && documents.includes(path))
      const synced = made.slice(removed, renamed).some(({ name }) => name === 'syncDirectory')
      expect([removed >= 0, removed < renamed, synced]).toEqual([true, true, true])
    } else expect(events).toEqual(SAMPLE_EVENTS)
  }
})

it('refuses a suffix that could lead elsewhere, and a log that is not stored', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root })
  await store(storage, 's', SAMPLE_BATCHES)
  const writer = await storage.openWriter('s', { kind: 'resume' })
  await expect(writer.rewrite(sampleHeader('s'), pages(), '/../x')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await writer.close()
  const unborn = await storage.openWriter('t', { kind: 'create', header: sampleHeader('t') })
  await expect(unborn.rewrite(sampleHeader('t'), pages())).rejects.toMatchObject({ code: 'INVARIANT' })
  await unborn.close()
  expect(await readdir(join(root, 's'))).toEqual(['session.jsonl'])
})

it('derived documents are replaced as a whole, read by everybody, and never followed elsewhere', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root })
  await store(storage, 's', SAMPLE_BATCHES)
  const reader = await storage.openReader('s')
  expect(await reader.derived('summary')).toBeUndefined()
  const writer = await storage.openWriter('s', { kind: 'resume' })
  await writer.saveDerived('summary', '{"a":1}')
  await writer.saveDerived('summary', '{"b":"ü"}')
  expect(await reader.derived('summary')).toBe('{"b":"ü"}')
  expect(await reader.derived('snapshots')).toBeUndefined()
  expect((await readdir(join(root, 's'))).sort()).toEqual(['session.jsonl', 'summary.json'])
  const elsewhere = join(await temporaryDirectory(), 'x')
  await writeFile(elsewhere, 'secret')
  await symlink(elsewhere, join(root, 's', 'snapshots.json'))
  expect(await reader.derived('snapshots')).toBeUndefined()
  await writer.saveDerived('snapshots', '[]')
  expect(await reader.derived('snapshots')).toBe('[]')
  expect(await readFile(elsewhere, 'utf8')).toBe('secret')
  await reader.close()
  await writer.close()
})

it('what a crashed writer was building inside a session is removed by the next one', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root })
  await store(storage, 's', SAMPLE_BATCHES)
  await writeFile(join(root, 's', '.tmp-0123456789abcdef'), 'half')
  await readAll(storage, 's')
  expect(await readdir(join(root, 's'))).toHaveLength(2)
  const writer = await storage.openWriter('s', { kind: 'resume' })
  expect(await readdir(join(root, 's'))).toEqual(['session.jsonl'])
  await writer.close()
})
