// Proves that a listing shows every session once, in keyset order, whatever is wrong with some of them.
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type AnySessionEvent,
  createPersistence,
  headReceipt,
  type StorageListEntry,
  type StorageListKey,
  type StorageListQuery,
} from '@session-persistence/core'
import { expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { FaultyFileSystem } from './parts/faulty-file-system.ts'
import { logPath, readLog, SAMPLE_BATCHES, sampleHeader, writeLog } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

type Storage = ReturnType<typeof jsonlStorage>

/** A stream delta of 200 characters. */
function delta(time: number): Omit<AnySessionEvent, 'seq'> {
  const data = { turn: 1, step: 1, kind: 'text', index: 0, text: 'x'.repeat(200) }
  return { time, type: 'assistant/chunk', data }
}

async function make(storage: Storage, id: string, time: number, more: object = {}): Promise<void> {
  const writer = await storage.openWriter(id, { kind: 'create', header: { ...sampleHeader(id), ...more } })
  await writer.append([{ seq: 0, time, type: 'acme/note', data: {}, ignorable: true }])
  await writer.close()
}

async function allPages(storage: Storage, query: StorageListQuery): Promise<StorageListEntry[]> {
  const entries: StorageListEntry[] = []
  for (let after: StorageListKey | undefined; ; ) {
    const page = await storage.list({ ...query, ...(after === undefined ? {} : { after }) })
    entries.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < query.limit) return entries
    after = { updatedAt: last.updatedAt, id: last.id }
  }
}

it('1,001 sessions, page by page, equal times by id', { timeout: 60_000 }, async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root, durability: 'process' })
  const ids = Array.from({ length: 1001 }, (_, index) => `${index % 2 === 0 ? 'A' : 'b'}-${(index * 7919) % 1001}`)
  for (const [index, id] of ids.entries()) await make(storage, id, 1000 + (index % 10))
  const expected = ids
    .map((id, index) => ({ id, updatedAt: 1000 + (index % 10) }))
    .sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1))
  for (const limit of [1000, 100, 7]) {
    const entries = await allPages(storage, { limit })
    expect(entries.map(({ id, updatedAt }) => ({ id, updatedAt }))).toEqual(expected)
  }
})

it('damaged, newer and foreign directories hide nobody', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root, durability: 'process' })
  for (const [index, id] of ['a', 'b', 'c', 'd', 'e'].entries()) await make(storage, id, 100 + index)
  await writeLog(root, 'b', Buffer.alloc(0))
  const d = await readLog(root, 'd')
  await writeLog(root, 'd', d.fill(0x20, d.length - 40, d.length - 30))
  await mkdir(join(root, 'c (conflicted copy)'))
  await writeFile(join(root, 'c (conflicted copy)', 'session.jsonl'), await readLog(root, 'c'))
  await writeFile(join(root, 'notes.txt'), 'x')
  await mkdir(join(root, 'empty'))
  await writeLog(root, 'e', Buffer.concat([await readLog(root, 'e'), Buffer.from('{"torn')]))
  const entries = await allPages(storage, { limit: 2 })
  expect(entries.map(({ id, state, updatedAt }) => [id, state, updatedAt])).toEqual([
    ['e', 'ready', 104],
    ['c', 'ready', 102],
    ['a', 'ready', 100],
    ['b', 'damaged', undefined],
    ['d', 'damaged', undefined],
  ])
  expect(entries[4]?.error).toMatchObject({ code: 'CORRUPT', sessionId: 'd' })
  expect(entries[0]).toMatchObject({ events: 1, bytes: (await readLog(root, 'e')).length, header: sampleHeader('e') })
})

it('takes times from events, never from the file', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root, durability: 'process' })
  await make(storage, 'a', 5)
  await make(storage, 'b', 9)
  await utimes(logPath(root, 'a'), 2_000_000_000, 2_000_000_000)
  expect((await storage.list({ limit: 9 })).map(({ id, updatedAt }) => [id, updatedAt])).toEqual([
    ['b', 9],
    ['a', 5],
  ])
})

it('filters by what the header and the end of a log say', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root, durability: 'process' })
  await make(storage, 'a', 1, { cwd: '/a', origin: 'x' })
  await make(storage, 'b', 2, { cwd: '/b', parent: 'a' })
  await make(storage, 'c', 3, { cwd: '/a', parent: 'a' })
  await make(storage, 'z', 3)
  await writeLog(root, 'z', Buffer.from('x'))
  const ids = async (query: Omit<StorageListQuery, 'limit'>): Promise<string[]> =>
    (await storage.list({ limit: 9, ...query })).map(({ id }) => id)
  expect(await ids({ cwd: '/a' })).toEqual(['c', 'a'])
  expect(await ids({ parent: 'a' })).toEqual(['c', 'b'])
  expect(await ids({ origin: 'x' })).toEqual(['a'])
  expect(await ids({ updatedAfter: 2 })).toEqual(['c'])
  expect(await ids({ state: 'damaged' })).toEqual(['z'])
  const writer = await storage.openWriter('b', { kind: 'resume' })
  expect(await ids({ state: 'open' })).toEqual(['b'])
  expect((await storage.list({ limit: 9, state: 'open' }))[0]?.owner).toContain(`pid ${process.pid}`)
  await writer.close()
  expect(await ids({ state: 'ready' })).toEqual(['c', 'b', 'a'])
})

it('is told from long last lines, long headers and packed runs as well', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root, durability: 'process', pack: true })
  await make(storage, 'header', 1, {
    labels: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`label ${at}`, 'x'.repeat(50)])),
  })
  const line = await storage.openWriter('line', { kind: 'create', header: sampleHeader('line') })
  await line.append([{ seq: 0, time: 2, type: 'acme/note', data: 'x'.repeat(100_000) }])
  await line.close()
  const runs = await storage.openWriter('runs', { kind: 'create', header: sampleHeader('runs') })
  await runs.append(SAMPLE_BATCHES.slice(0, 2).flat())
  await runs.close()
  const empty = await storage.openWriter('empty', { kind: 'create', header: sampleHeader('empty'), staged: true })
  await empty.publish()
  await empty.close()
  expect((await storage.list({ limit: 9 })).map(({ id, events }) => [id, events])).toEqual([
    ['runs', 8],
    ['empty', 0],
    ['line', 1],
    ['header', 1],
  ])
})

it('judges the end of a log as opening it does, whatever was added again', async () => {
  const root = await temporaryDirectory()
  for (const pack of [false, true]) {
    const storage = jsonlStorage({ root, durability: 'process', pack })
    const id = `s-${pack}`
    // Batches of one line, of several, and one that a small window does not hold.
    const sizes = [30, 1, 1, 4, 40, 2, 1]
    let seq = 0
    const writer = await storage.openWriter(id, { kind: 'create', header: sampleHeader(id) })
    const ends: number[] = []
    for (const size of sizes) {
      const batch = Array.from({ length: size }, () => {
        return { ...delta(seq), seq: seq++ }
      })
      await writer.append(batch)
      ends.push((await readLog(root, id)).length)
    }
    await writer.close()
    const whole = await readLog(root, id)
    const header = whole.indexOf(10) + 1
    const starts = [header, ...ends.slice(0, -1)]
    for (const [index, start] of starts.entries()) {
      const again = whole.subarray(start, ends[index])
      for (const [end, kept] of [...ends.entries(), [-1, header] as const]) {
        await writeLog(root, id, Buffer.concat([whole.subarray(0, kept), again]))
        const opened = await storage.openWriter(id, { kind: 'resume' }).then(
          async (found) => {
            await found.close()
            return 'ready'
          },
          () => 'damaged',
        )
        const entry = (await storage.list({ limit: 9 })).find((each) => each.id === id)
        expect(entry?.state, `${pack} ${index} behind ${end}`).toBe(opened)
        expect(opened === 'ready').toBe(index === end + 1)
      }
    }
    await writeLog(root, id, whole)
    expect((await storage.list({ limit: 9 })).find((each) => each.id === id)).toMatchObject({ events: seq })
  }
})

it('needs no more than a glance for sound logs, whatever the size of their batches', async () => {
  const root = await temporaryDirectory()
  const plain = jsonlStorage({ root, durability: 'process' })
  for (const sizes of [[1], [30], [1, 1], [1, 30], [30, 30], [100, 1], [1, 100]]) {
    const id = `s-${sizes.join('-')}`
    const writer = await plain.openWriter(id, { kind: 'create', header: sampleHeader(id) })
    let seq = 0
    for (const size of sizes) {
      await writer.append(Array.from({ length: size }, () => ({ ...delta(seq), seq: seq++ })))
    }
    await writer.close()
  }
  const fs = new FaultyFileSystem()
  const entries = await jsonlStorage({ root, durability: 'process', fileSystem: fs }).list({ limit: 9 })
  expect(entries.map(({ id, events }) => [id, events]).sort()).toEqual([
    ['s-1', 1],
    ['s-1-1', 2],
    ['s-1-100', 101],
    ['s-1-30', 31],
    ['s-100-1', 101],
    ['s-30', 30],
    ['s-30-30', 60],
  ])
  expect(fs.calls.filter(({ name }) => name.startsWith('open ')).length).toBe(0)
})

it('of no root is empty, and makes none', async () => {
  const root = join(await temporaryDirectory(), 'root')
  const storage = jsonlStorage({ root })
  expect(await storage.list({ limit: 5 })).toEqual([])
  await expect(storage.openReader('a')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(storage.openWriter('a', { kind: 'resume' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await storage.delete('a')).toBe(false)
  await expect(rm(root)).rejects.toMatchObject({ code: 'ENOENT' })
})

it('ends with the reason of an abort', async () => {
  const storage = jsonlStorage({ root: await temporaryDirectory() })
  const reason = new Error('enough')
  await expect(storage.list({ limit: 5, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})

it('brings the summary with the receipt of the newest event, or leaves it to be found out', async () => {
  const deltas = Array.from({ length: 200 }, (_, index) => delta(index))
  const cases: readonly (readonly [string, readonly Omit<AnySessionEvent, 'seq'>[], boolean])[] = [
    ['short', [{ time: 1, type: 'acme/note', data: { text: 'ä' }, ignorable: true }], true],
    ['long', [...deltas, { time: 1, type: 'acme/note', data: {}, ignorable: true }], true],
    ['delta', deltas.slice(0, 2), true],
    // On disk these are not the bytes that the receipt is made of.
    ['packed', deltas, false],
    ['escaped', [{ time: 1, type: 'acme/note', data: '\u2028', ignorable: true }], false],
  ]
  for (const [id, inputs, told] of cases) {
    const storage = jsonlStorage({ root: await temporaryDirectory(), pack: true })
    const events = inputs.map((input, seq) => ({ seq, ...input }))
    const writer = await storage.openWriter(id, { kind: 'create', header: sampleHeader(id) })
    await writer.append(events)
    expect((await storage.list({ limit: 1 }))[0]?.summary).toBeUndefined()
    await writer.saveDerived('summary', 'a summary')
    await writer.close()
    const summary = { text: 'a summary', crc: headReceipt(events.at(-1)).crc }
    expect((await storage.list({ limit: 1 }))[0]?.summary).toEqual(told ? summary : undefined)
  }
})

it('shows what a session is called now, whether its summary was written or not', async () => {
  const root = await temporaryDirectory()
  const fileSystem = new FaultyFileSystem()
  await using persistence = createPersistence(jsonlStorage({ root, fileSystem }))
  const first = await persistence.create({ id: 'a' })
  first.append('session/title', { title: 'old' })
  await first.close()
  const titles = async (): Promise<unknown> => (await persistence.list()).sessions.map(({ title }) => title)
  fileSystem.calls.length = 0
  expect(await titles()).toEqual(['old'])
  // The log for its place, the log for its row, and the summary.
  expect(fileSystem.calls.filter(({ name }) => name.startsWith('open'))).toHaveLength(3)
  const again = await persistence.resume('a')
  again.append('session/title', { title: 'new' })
  await again.flush()
  expect(await titles()).toEqual(['new'])
  await again.abandon()
  expect(await titles()).toEqual(['new'])
})
