// Proves that after an I/O error nothing acknowledged is missing, nothing is stored twice, and the typed error says why.
import { spawnSync } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqlite, sqliteStorage } from '../src/index.ts'
import { errorOf, note, notes, readAll, sampleHeader, store } from './parts/sample-log.ts'
import { SCALE } from './parts/scale.ts'
import { SmallFileSystem } from './parts/small-file-system.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'
import { WriterProcess } from './parts/writer-process.ts'

const hasStrace = spawnSync('strace', ['-V']).status === 0
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0

async function expectWhole(file: string, id: string, count: number, journal: 'wal' | 'delete' = 'wal'): Promise<void> {
  const storage = sqliteStorage({ file, journal })
  const events = await readAll(storage, id)
  expect(events).toEqual(notes(events.length))
  expect(events.length).toBe(count)
  expect((await storage.check(id)).problems).toEqual([])
  await storage.close()
  // No probe, no half-made database, no log is left.
  expect((await readdir(dirname(file))).filter((name) => !name.endsWith('.locks'))).toEqual(['sessions.db'])
}

describe.runIf(hasStrace)('a system call that fails (needs strace)', { timeout: 300_000 * SCALE }, () => {
  // From the first append on the calls of opening, committing and checkpointing come in turn; `+` fails all from there.
  const faults = [
    'fsync:error=EIO',
    'fdatasync:error=EIO',
    'pwrite64:error=EIO',
    'pwrite64:error=ENOSPC',
    'ftruncate:error=EIO',
  ]

  it.each(faults)('%s', async (fault) => {
    let injected = 0
    for (let when = 1; when <= 6 * SCALE; when++) {
      const file = join(await temporaryDirectory(), 'sessions.db')
      const storage = sqliteStorage({ file })
      await store(storage, 's', [notes(2)])
      await storage.close()
      const [call = ''] = fault.split(':')
      const injection = `--inject=${fault}:when=${when}`
      const under = ['strace', '-f', '-o', join(dirname(file), 'trace'), '-P', file, '-P', `${file}-wal`]
      const writer = new WriterProcess({
        file,
        id: 's',
        batches: 4,
        under: [...under, '-e', `trace=${call}`, injection],
      })
      await writer.until(({ kind }) => kind === 'closed')
      await writer.exit()
      const failures = writer.lines.filter(({ kind }) => kind === 'failed').map(({ code }) => code)
      for (const code of failures) expect(code).toMatch(/^(?:IO|NO_SPACE|POISONED)$/)
      injected += failures.length
      await rm(join(dirname(file), 'trace'))
      await expectWhole(file, 's', 2 + 12)
    }
    // ftruncate and fdatasync may not be among the calls that SQLite makes here; write and sync are.
    if (/^(?:fsync|pwrite64)/.test(fault)) expect(injected).toBeGreaterThan(0)
  })
})

describe.runIf(hasPrlimit)('a file that may not grow any more (needs prlimit)', { timeout: 120_000 * SCALE }, () => {
  it.each(['wal', 'delete'] as const)(
    'is NO_SPACE, and the same batch goes in when it may (journal: %s)',
    async (journal) => {
      for (let round = 0; round < 4 * SCALE; round++) {
        const file = join(await temporaryDirectory(), 'sessions.db')
        const words = journal === 'delete' ? (['retry', 'delete'] as const) : (['retry'] as const)
        const limit = 90_000 + 1_111 * round
        const under = ['prlimit', `--fsize=${limit}:unlimited`]
        const writer = new WriterProcess({ file, id: 's', batches: 60, size: 20, words, under })
        const failed = await writer.until(({ kind }) => kind === 'failed')
        expect(failed.code).toBe('NO_SPACE')
        writer.tell()
        const again = await writer.until((line) => line.kind === 'failed' && line !== failed)
        // Whether the log could be moved into the database decides which of the two it is.
        expect([again.code, again.cause]).toContain('NO_SPACE')
        spawnSync('prlimit', ['--pid', String(writer.pid), '--fsize=unlimited:unlimited'])
        writer.tell()
        await writer.until(({ kind }) => kind === 'closed')
        await writer.exit()
        await expectWhole(file, 's', 1200, journal)
      }
    },
  )
})

const small = SmallFileSystem.mount()

afterEach(() => small?.empty())

describe.runIf(small !== undefined)('a full file system (needs root)', { timeout: 60_000 }, () => {
  let file = ''

  beforeEach(() => {
    file = join(small?.path ?? '', 'sessions.db')
  })

  it('is NO_SPACE; what was acknowledged is there, and what was not goes in when there is space', async () => {
    const storage = sqliteStorage({ file })
    await store(storage, 'before', [notes(10)])
    const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
    small?.fillUp()
    const batches = [0, 1].map((batch) => [note(batch, { text: 'x'.repeat(100_000) })])
    for (const code of [/^NO_SPACE$/, /^(?:NO_SPACE|POISONED)$/, /^(?:NO_SPACE|POISONED)$/]) {
      const error = await errorOf(() => writer.append(batches[0] ?? []))
      expect((error as { code: string }).code).toMatch(code)
    }
    // Reading needs no space.
    expect(await readAll(storage, 'before')).toEqual(notes(10))
    await expect(storage.openReader('s')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    small?.giveSpace()
    for (const batch of batches) await writer.append(batch)
    await writer.close()
    expect(await readAll(storage, 's')).toEqual(batches.flat())
    await storage.close()
  })

  it('is NO_SPACE to open, where there is no room for the shared memory either', async () => {
    const first = sqliteStorage({ file })
    await store(first, 'before', [notes(10)])
    await first.close()
    small?.fillUp()
    await expect(openSqlite({ file })).rejects.toMatchObject({ code: 'NO_SPACE' })
    small?.giveSpace()
    const again = sqliteStorage({ file })
    expect(await readAll(again, 'before')).toEqual(notes(10))
    await again.close()
  })

  it('is NO_SPACE from the first flush on, also when the moving of the log met it first', async () => {
    const storage = sqliteStorage({ file })
    const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
    const batches: (readonly ReturnType<typeof note>[])[] = []
    const outcome = async (): Promise<unknown> => {
      const batch = [note(batches.length, { text: 'x'.repeat(60_000) })]
      try {
        await writer.append(batch)
        batches.push(batch)
        return undefined
      } catch (error) {
        return error
      }
    }
    let refused: unknown
    while (refused === undefined) refused = await outcome()
    expect(refused).toMatchObject({ code: 'NO_SPACE' })
    small?.fillUp()
    expect(await outcome()).toMatchObject({ code: 'NO_SPACE' })
    expect(await readAll(storage, 's')).toEqual(batches.flat())
    small?.resize(16)
    small?.giveSpace()
    expect(await outcome()).toBeUndefined()
    expect(await readAll(storage, 's')).toEqual(batches.flat())
    await writer.close()
    await storage.close()
    small?.empty()
    small?.resize(2)
  })

  it('costs every session of the transaction its batch, and no session an event', async () => {
    const storage = sqliteStorage({ file })
    const writers = await Promise.all(
      ['a', 'b', 'c'].map((id) => storage.openWriter(id, { kind: 'create', header: sampleHeader(id) })),
    )
    await Promise.all(writers.map((writer) => writer.append(notes(5))))
    small?.fillUp()
    const big = [note(5, { text: 'x'.repeat(100_000) })]
    const outcomes = await Promise.allSettled(writers.map((writer) => writer.append(big)))
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'NO_SPACE' } })
    small?.giveSpace()
    await Promise.all(writers.map((writer) => writer.append([...big, note(6)])))
    for (const id of ['a', 'b', 'c']) expect(await readAll(storage, id)).toEqual([...notes(5), ...big, note(6)])
    await Promise.all(writers.map((writer) => writer.close()))
    await storage.close()
  })

  it('that became read-only is READ_ONLY or IO to a writer, never NOT_FOUND or CORRUPT', async () => {
    const storage = sqliteStorage({ file })
    const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
    await writer.append(notes(3))
    await writer.close()
    await storage.close()
    small?.readOnly(true)
    try {
      const again = sqliteStorage({ file })
      for (const call of [
        () => again.openReader('s'),
        () => again.list({ limit: 10 }),
        () => again.openWriter('s', { kind: 'resume' }),
        () => again.openWriter('new', { kind: 'create', header: sampleHeader('new') }),
      ]) {
        expect(await errorOf(call).then((error) => (error as { code: string }).code)).toMatch(/^(?:READ_ONLY|IO)$/)
      }
      await again.close()
    } finally {
      small?.readOnly(false)
    }
    const healed = sqliteStorage({ file })
    expect(await readAll(healed, 's')).toEqual(notes(3))
    await healed.close()
  })

  it('that became read-only still gives what a rollback journal was kept for', async () => {
    const storage = sqliteStorage({ file, journal: 'delete' })
    await store(storage, 's', [notes(3)])
    await storage.close()
    small?.readOnly(true)
    try {
      const again = sqliteStorage({ file, journal: 'delete' })
      expect(await readAll(again, 's')).toEqual(notes(3))
      expect((await again.list({ limit: 10 })).map(({ id, state }) => [id, state])).toEqual([['s', 'ready']])
      expect((await again.check('s')).problems).toEqual([])
      for (const call of [
        () => again.openWriter('s', { kind: 'resume' }),
        () => again.openWriter('new', { kind: 'create', header: sampleHeader('new') }),
        () => again.delete('s'),
      ]) {
        expect(await errorOf(call)).toMatchObject({ code: 'READ_ONLY' })
      }
      await again.close()
    } finally {
      small?.readOnly(false)
    }
  })
})

if (!hasStrace) it.skip('failing system calls: not exercised, strace is not installed')
if (!hasPrlimit) it.skip('files that may not grow: not exercised, prlimit is not installed')
if (small === undefined) it.skip('full file systems: not exercised, mounting one needs root')
