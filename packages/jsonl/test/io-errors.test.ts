// Proves that after an error at any call of any write path nothing acknowledged is lost, nothing is stored twice, and
// the same batch goes through once the medium is well again.
import { isSessionError, type StorageWriter } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { EIO, type Fault, FaultyFileSystem } from './parts/faulty-file-system.ts'
import { readAll, readLog, SAMPLE_BATCHES, SAMPLE_EVENTS, sampleHeader, store, writeLog } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const FAULTS: readonly Fault[] = [
  EIO,
  { code: 'EIO', errno: -5, effect: 'after' },
  { code: 'ENOSPC', errno: -28, effect: 'half' },
  { code: 'Unknown system error -122', errno: -122, effect: 'before' },
]

const [FIRST = [], SECOND = [], ...REST] = SAMPLE_BATCHES

/** Appends until it works; the number of tries. Every refusal must be a typed one. */
async function appendStubbornly(writer: StorageWriter, fs: FaultyFileSystem, events = FIRST): Promise<string[]> {
  const codes: string[] = []
  for (let tries = 0; ; tries++) {
    try {
      await writer.append(events)
      return codes
    } catch (error) {
      if (!isSessionError(error)) throw error
      codes.push(error.code)
      if (tries === 1) fs.heal()
      if (tries > 3) throw error
    }
  }
}

describe.each(FAULTS)('with $code ($effect)', (fault) => {
  it('at every call of the first append', { timeout: 60_000 }, async () => {
    for (let index = 0; ; index++) {
      const root = await temporaryDirectory()
      const fs = new FaultyFileSystem()
      const storage = jsonlStorage({ root, fileSystem: fs })
      const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
      const before = fs.calls.length
      fs.failAt(index, fault)
      await appendStubbornly(writer, fs)
      const calls = fs.calls.length - before
      fs.heal()
      await appendStubbornly(writer, fs, SECOND)
      await writer.close()
      expect(await readAll(jsonlStorage({ root }), 's')).toEqual([...FIRST, ...SECOND])
      if (index >= calls) break
    }
  })

  it('at every call of an append to a log that was just resumed, with a torn tail', { timeout: 60_000 }, async () => {
    const torn = Buffer.from('{"seq":8,"time":17')
    for (let index = 0, calls = 1; index < calls; index++) {
      const root = await temporaryDirectory()
      await store(jsonlStorage({ root }), 's', [FIRST, SECOND])
      await writeLog(root, 's', Buffer.concat([await readLog(root, 's'), torn]))
      const fs = new FaultyFileSystem()
      const storage = jsonlStorage({ root, fileSystem: fs })
      const writer = await storage.openWriter('s', { kind: 'resume' })
      const before = fs.calls.length
      fs.failAt(index, fault)
      for (let tries = 0; tries < 2 && writer.tail.torn !== undefined; tries++) {
        await writer.discardTornTail().catch((error: unknown) => {
          if (!isSessionError(error)) throw error
        })
      }
      expect(writer.tail.torn).toBeUndefined()
      for (const batch of REST) await appendStubbornly(writer, fs, batch)
      calls = fs.calls.length - before
      fs.heal()
      await writer.close()
      expect(await readAll(jsonlStorage({ root }), 's')).toEqual(SAMPLE_EVENTS)
      expect(await jsonlStorage({ root }).check('s')).toMatchObject({ problems: [] })
    }
  })
})

it('names the code of the error', async () => {
  const root = await temporaryDirectory()
  const fs = new FaultyFileSystem()
  const writer = await jsonlStorage({ root, fileSystem: fs }).openWriter('s', {
    kind: 'create',
    header: sampleHeader('s'),
  })
  await writer.append(FIRST)
  await writer.append(SECOND)
  const third = REST[0] ?? []
  for (const [errno, code] of [
    [-28, 'NO_SPACE'],
    [-122, 'NO_SPACE'],
    [-27, 'NO_SPACE'],
    [-30, 'READ_ONLY'],
    [-13, 'PERMISSION_DENIED'],
    [-1, 'PERMISSION_DENIED'],
    [-5, 'IO'],
    [-116, 'IO'],
    [-24, 'IO'],
  ] as const) {
    fs.decide = ({ name }) => (name === 'append' ? { code: 'x', errno, effect: 'before' } : undefined)
    await expect(writer.append(third)).rejects.toMatchObject({ code, path: writer.location })
  }
  fs.heal()
  await writer.append(third)
  await writer.close()
})

it('is poisoned while what a failed write left cannot be cut, and goes on afterwards', async () => {
  const root = await temporaryDirectory()
  const fs = new FaultyFileSystem()
  const storage = jsonlStorage({ root, fileSystem: fs })
  const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
  await writer.append(FIRST)
  const durable = await readLog(root, 's')
  fs.decide = ({ name }) =>
    name === 'append' ? { code: 'ENOSPC', errno: -28, effect: 'half' } : name === 'open patch' ? EIO : undefined
  await expect(writer.append(SECOND)).rejects.toMatchObject({ code: 'NO_SPACE' })
  expect((await readLog(root, 's')).length).toBeGreaterThan(durable.length)
  for (let again = 0; again < 3; again++) {
    const refused = await writer.append(SECOND).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(refused).toMatchObject({ code: 'POISONED', cause: { code: 'IO' } })
  }
  fs.heal()
  await writer.append([...SECOND, ...(REST[0] ?? [])])
  await writer.close()
  expect(await readAll(storage, 's')).toEqual(SAMPLE_EVENTS.slice(0, 9))
})

it('syncs the cut before it writes again, through a new handle', async () => {
  const root = await temporaryDirectory()
  const fs = new FaultyFileSystem()
  const writer = await jsonlStorage({ root, fileSystem: fs }).openWriter('s', {
    kind: 'create',
    header: sampleHeader('s'),
  })
  await writer.append(FIRST)
  await writer.append(SECOND)
  fs.decide = ({ name }) => (name === 'append' ? { ...EIO, effect: 'after' } : undefined)
  const start = fs.calls.length
  await expect(writer.append(REST[0] ?? [])).rejects.toMatchObject({ code: 'IO' })
  fs.heal()
  await writer.append(REST[0] ?? [])
  await writer.close()
  const names = fs.calls.slice(start).map(({ name }) => name)
  expect(names.filter((name) => !name.endsWith('stat') && name !== 'lstatSync').slice(0, 8)).toEqual([
    'append',
    'close',
    'open patch',
    'truncate',
    'sync',
    'close',
    'open append-durable',
    'append',
  ])
})

it('counts its syncs: three to create, one an append, none to read', async () => {
  const root = await temporaryDirectory()
  const fs = new FaultyFileSystem()
  const storage = jsonlStorage({ root, fileSystem: fs })
  const syncs = (): number =>
    fs.calls.filter(({ name }) => name === 'sync' || name === 'syncDirectory' || name === 'append').length
  const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
  // The first writer of a process may sync what it finds around the root.
  const opened = syncs()
  await writer.append(FIRST)
  expect(syncs() - opened).toBe(3)
  await writer.append(SECOND)
  expect(syncs() - opened).toBe(4)
  await writer.close()
  await readAll(storage, 's')
  await storage.list({ limit: 10 })
  await storage.check('s')
  expect(syncs() - opened).toBe(4)
})

it('reports a failed read as IO, never as missing or corrupt', async () => {
  const root = await temporaryDirectory()
  await store(jsonlStorage({ root }), 's', SAMPLE_BATCHES)
  for (let index = 0, calls = 1; index < calls; index++) {
    const fs = new FaultyFileSystem()
    const storage = jsonlStorage({ root, fileSystem: fs })
    fs.failAt(index, { code: 'EMFILE', errno: -24, effect: 'before' })
    const given = await readAll(storage, 's').then(
      (events) => events,
      (error: unknown) => error,
    )
    calls = fs.calls.length
    // Failing to close a file that was only read loses nothing.
    if (fs.calls[index]?.name === 'close') expect(given).toEqual(SAMPLE_EVENTS)
    else expect(given).toMatchObject({ code: 'IO' })
  }
})

it('fails to list as a whole when it runs out of handles', async () => {
  const root = await temporaryDirectory()
  await store(jsonlStorage({ root }), 'a', SAMPLE_BATCHES)
  await store(jsonlStorage({ root }), 'b', SAMPLE_BATCHES)
  const fs = new FaultyFileSystem()
  fs.decide = ({ name, path }) =>
    name.startsWith('open') && path.includes('/b/') ? { code: 'EMFILE', errno: -24, effect: 'before' } : undefined
  await expect(jsonlStorage({ root, fileSystem: fs }).list({ limit: 10 })).rejects.toMatchObject({ code: 'IO' })
  fs.decide = ({ name, path }) => (name.startsWith('open') && path.includes('/b/') ? EIO : undefined)
  const entries = await jsonlStorage({ root, fileSystem: fs }).list({ limit: 10 })
  expect(entries).toMatchObject([
    { id: 'a', state: 'ready' },
    { id: 'b', state: 'damaged', error: { code: 'IO' } },
  ])
})

it.each([
  [-28, 'NO_SPACE'],
  [-27, 'NO_SPACE'],
  [-122, 'NO_SPACE'],
  [-5, 'IO'],
] as const)('learns the error that a short count hides: %s', async (errno, code) => {
  const root = await temporaryDirectory()
  const fs = new FaultyFileSystem()
  const storage = jsonlStorage({ root, fileSystem: fs })
  const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
  const fail = (target: string): void => {
    let writes = 0
    fs.decide = ({ name }) => {
      if (name !== target) return undefined
      return writes++ % 2 === 0 ? { code: '', effect: 'short' } : { code: 'x', errno, effect: 'before' }
    }
  }
  fail('write')
  await expect(writer.append(FIRST)).rejects.toMatchObject({ code })
  fs.heal()
  await writer.append(FIRST)
  const durable = await readLog(root, 's')
  fail('append')
  for (let again = 0; again < 3; again++) {
    await expect(writer.append(SECOND)).rejects.toMatchObject({ code, path: writer.location })
    expect(await readLog(root, 's')).toEqual(durable)
  }
  fs.heal()
  await writer.append(SECOND)
  await writer.close()
  expect(await readAll(storage, 's')).toEqual([...FIRST, ...SECOND])
})

it('a short count of which the rest goes through is an error all the same: what was hidden may have been a failed sync', async () => {
  const root = await temporaryDirectory()
  const fs = new FaultyFileSystem()
  const storage = jsonlStorage({ root, fileSystem: fs })
  const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
  await writer.append(FIRST)
  let appends = 0
  fs.decide = ({ name }) => (name === 'append' && appends++ === 0 ? { code: '', effect: 'short' } : undefined)
  await expect(writer.append(SECOND)).rejects.toMatchObject({ code: 'IO' })
  await writer.append(SECOND)
  await writer.close()
  expect(await readAll(storage, 's')).toEqual([...FIRST, ...SECOND])
})

it.each([-28, -122])('a full disk does not keep a session from being resumed or deleted: %s', async (errno) => {
  const root = await temporaryDirectory()
  await store(jsonlStorage({ root }), 's', [FIRST, SECOND])
  await store(jsonlStorage({ root }), 't', [FIRST])
  const fs = new FaultyFileSystem()
  fs.decide = ({ name, path }) =>
    name === 'write' && path.includes('.locks') ? { code: 'x', errno, effect: 'before' } : undefined
  const storage = jsonlStorage({ root, fileSystem: fs })
  const writer = await storage.openWriter('t', { kind: 'resume' })
  await expect(jsonlStorage({ root }).delete('t')).rejects.toMatchObject({ code: 'LOCKED' })
  await writer.close()
  expect(await storage.delete('s')).toBe(true)
  expect((await storage.list({ limit: 9 })).map(({ id }) => id)).toEqual(['t'])
  fs.decide = ({ name, path }) => (name === 'write' && path.includes('.locks') ? EIO : undefined)
  await expect(storage.delete('t')).rejects.toMatchObject({ code: 'IO' })
})
