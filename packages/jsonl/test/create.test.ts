// Proves that a session appears whole or not at all, exists once, and can be created again after it was deleted.
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { EIO, FaultyFileSystem } from './parts/faulty-file-system.ts'
import { readAll, readLog, SAMPLE_BATCHES, SAMPLE_EVENTS, sampleHeader, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const create = (id: string, staged = false) => ({ kind: 'create', header: sampleHeader(id), staged }) as const
const FIRST = SAMPLE_BATCHES[0] ?? []

it('writes nothing before the first append, and leaves nothing without one', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root })
  const writer = await storage.openWriter('s', create('s'))
  expect(await readdir(root)).toEqual(['.locks'])
  await expect(storage.openReader('s')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  const reader = await writer.openReader()
  expect(reader.tail).toEqual({ nextSeq: 0, lastTime: undefined })
  expect(reader.header).toEqual(sampleHeader('s'))
  await reader.close()
  await writer.saveDerived('summary', '{}')
  await writer.close()
  await writer.close()
  expect(await readdir(root)).toEqual(['.locks'])
  expect(await readdir(join(root, '.locks'))).toEqual([])
  await expect(writer.append(FIRST)).rejects.toMatchObject({ code: 'CLOSED' })
})

it('refuses an id that is taken, before and after the first append', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root })
  await store(storage, 'a', SAMPLE_BATCHES)
  await expect(storage.openWriter('a', create('a'))).rejects.toMatchObject({ code: 'ALREADY_EXISTS', sessionId: 'a' })
  const writer = await storage.openWriter('b', create('b'))
  // A program that knows no locks.
  await mkdir(join(root, 'b'))
  await writeFile(join(root, 'b', 'x'), 'x')
  await expect(writer.append(FIRST)).rejects.toMatchObject({ code: 'ALREADY_EXISTS', sessionId: 'b' })
  await writer.close()
  expect((await readdir(root)).sort()).toEqual(['.locks', 'a', 'b'])
  expect(await readAll(storage, 'a')).toEqual(SAMPLE_EVENTS)
})

it('can be done again after a delete, and is then another log', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root })
  await store(storage, 's', SAMPLE_BATCHES)
  const first = await readLog(root, 's')
  expect(await storage.delete('s')).toBe(true)
  await store(storage, 's', SAMPLE_BATCHES)
  expect(await readAll(storage, 's')).toEqual(SAMPLE_EVENTS)
  expect((await readLog(root, 's')).equals(first)).toBe(false)
})

describe('a staged log', () => {
  it('is seen by nobody before it is published, and then whole', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlStorage({ root })
    const writer = await storage.openWriter('s', create('s', true))
    for (const batch of SAMPLE_BATCHES) await writer.append(batch)
    await expect(storage.openReader('s')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await storage.list({ limit: 5 })).toEqual([])
    const reader = await writer.openReader()
    expect(reader.tail.nextSeq).toBe(SAMPLE_EVENTS.length)
    await writer.publish()
    await writer.publish()
    await reader.close()
    expect(await readAll(storage, 's')).toEqual(SAMPLE_EVENTS)
    const next = { seq: SAMPLE_EVENTS.length, time: 1, type: 'acme/note', data: 1 }
    await writer.append([next])
    await writer.close()
    expect(await readAll(storage, 's')).toEqual([...SAMPLE_EVENTS, next])
  })

  it('leaves nothing when it is closed unpublished', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlStorage({ root })
    const writer = await storage.openWriter('s', create('s', true))
    await writer.append(FIRST)
    await writer.close()
    expect(await readdir(root)).toEqual(['.locks'])
  })

  it('stays as it is when its name is taken', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlStorage({ root })
    const writer = await storage.openWriter('s', create('s', true))
    await writer.append(FIRST)
    await mkdir(join(root, 's'))
    await writeFile(join(root, 's', 'x'), 'x')
    await expect(writer.publish()).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
    const reader = await writer.openReader()
    expect(reader.tail.nextSeq).toBe(FIRST.length)
    await reader.close()
    await writer.close()
    expect(await readdir(join(root, 's'))).toEqual(['x'])
  })

  it('whose sync failed is never published', async () => {
    const root = await temporaryDirectory()
    const fs = new FaultyFileSystem()
    const storage = jsonlStorage({ root, fileSystem: fs })
    const writer = await storage.openWriter('s', create('s', true))
    await writer.append(FIRST)
    fs.decide = ({ name }) => (name === 'sync' ? EIO : undefined)
    await expect(writer.publish()).rejects.toMatchObject({ code: 'IO' })
    fs.heal()
    await expect(writer.publish()).rejects.toMatchObject({ code: 'POISONED' })
    await expect(writer.append(SAMPLE_BATCHES[1] ?? [])).rejects.toMatchObject({ code: 'POISONED' })
    await writer.close()
    expect(await readdir(root)).toEqual(['.locks'])
  })
})

it('deletes everything, side files too, and survives a crash in between', async () => {
  const root = await temporaryDirectory()
  const fs = new FaultyFileSystem()
  const storage = jsonlStorage({ root, fileSystem: fs })
  await store(storage, 's', SAMPLE_BATCHES)
  await mkdir(join(root, 's', 'more'))
  await writeFile(join(root, 's', 'more', 'torn-1-1'), 'x')
  await writeFile(join(root, 's', 'summary.json'), '{}')
  fs.decide = ({ name }) => (name === 'unlink' ? EIO : undefined)
  await expect(storage.delete('s')).rejects.toMatchObject({ code: 'IO', sessionId: 's' })
  fs.heal()
  // Gone for everybody already; the rest goes with the next call.
  await expect(storage.openReader('s')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await storage.list({ limit: 5 })).toEqual([])
  expect(await storage.delete('s')).toBe(false)
  expect(await readdir(root)).toEqual(['.locks'])
  expect(await readdir(join(root, '.locks'))).toEqual([])
})

it('makes its root again when somebody removed it', async () => {
  const root = join(await temporaryDirectory(), 'deep', 'root')
  const storage = jsonlStorage({ root })
  await store(storage, 'a', SAMPLE_BATCHES)
  await rm(root, { recursive: true })
  expect(await storage.list({ limit: 5 })).toEqual([])
  await store(storage, 'a', SAMPLE_BATCHES)
  expect(await readAll(storage, 'a')).toEqual(SAMPLE_EVENTS)
})
