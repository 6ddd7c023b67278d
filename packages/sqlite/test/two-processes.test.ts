// Proves that processes share one database without losing, doubling or mixing anything, killed or not.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { sqliteStorage } from '../src/index.ts'
import { note, notes, readAll, store } from './parts/sample-log.ts'
import { SCALE } from './parts/scale.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'
import { WriterProcess } from './parts/writer-process.ts'

const HOLDER = fileURLToPath(new URL('parts/lock-holder.mjs', import.meta.url))

let file = ''

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
})

describe('processes that write at the same time', () => {
  it.each(['wal', 'delete'] as const)(
    'make one database between them and keep every batch (journal: %s)',
    { timeout: 120_000 },
    async (journal) => {
      const words = journal === 'delete' ? (['delete'] as const) : []
      const writers = [0, 1, 2, 3].map((id) => new WriterProcess({ file, id: `s${id}`, batches: 40, words }))
      await Promise.all(writers.map((writer) => writer.until(({ kind }) => kind === 'closed')))
      await Promise.all(writers.map((writer) => writer.exit()))
      const storage = sqliteStorage({ file, journal })
      for (const id of ['s0', 's1', 's2', 's3']) expect(await readAll(storage, id)).toEqual(notes(120))
      await storage.close()
      // Nothing is left but the database and the empty lock directory.
      expect((await readdir(dirname(file))).sort()).toEqual(['sessions.db', 'sessions.db.locks'])
      expect(await readdir(`${file}.locks`)).toEqual([])
    },
  )

  it('are told who holds a session', async () => {
    const holder = new WriterProcess({ file, id: 's', batches: 1, words: ['hold'] })
    await holder.until(({ kind }) => kind === 'ack')
    const storage = sqliteStorage({ file })
    await expect(storage.openWriter('s', { kind: 'resume' })).rejects.toMatchObject({
      code: 'LOCKED',
      message: expect.stringContaining(String(holder.pid)) as string,
    })
    await expect(storage.delete('s')).rejects.toMatchObject({ code: 'LOCKED' })
    expect((await storage.list({ limit: 10 })).map(({ id, state }) => [id, state])).toEqual([['s', 'open']])
    await store(storage, 'another')
    await holder.kill()
    await (await storage.openWriter('s', { kind: 'resume' })).close()
    await storage.close()
  })
})

describe('a database that another program holds', () => {
  it.each([
    ['wal', 'IMMEDIATE'],
    ['delete', 'EXCLUSIVE'],
  ] as const)(
    'is BUSY past the bound, and goes on where it was when that program dies (journal: %s)',
    { timeout: 60_000 },
    async (journal, how) => {
      const storage = sqliteStorage({ file, journal, busyMs: 50 })
      await store(storage, 's', [notes(3)])
      const writer = await storage.openWriter('s', { kind: 'resume' })
      await writer.settle()
      const holder = spawn(process.execPath, [HOLDER, file, how], { stdio: ['ignore', 'pipe', 'inherit'] })
      const died = once(holder, 'close')
      try {
        await once(holder.stdout, 'data')
        await expect(writer.append([note(3)])).rejects.toMatchObject({ code: 'BUSY', path: file })
        if (journal === 'wal') expect(await readAll(storage, 's')).toEqual(notes(3))
        else await expect(storage.openReader('s')).rejects.toMatchObject({ code: 'BUSY', path: file })
      } finally {
        holder.kill('SIGKILL')
        await died
      }
      await writer.append([note(3), note(4)])
      await writer.close()
      expect(await readAll(storage, 's')).toEqual(notes(5))
      await storage.close()
    },
  )
})

describe('a writer that is killed', () => {
  it.each(['wal', 'delete'] as const)(
    'at any acknowledgement has lost nothing, and the next one goes on (journal: %s)',
    { timeout: 120_000 * SCALE },
    async (journal) => {
      const words = journal === 'delete' ? (['delete', 'hold'] as const) : (['hold'] as const)
      let length = 0
      for (let round = 0; round < 6 * SCALE; round++) {
        const writer = new WriterProcess({ file, id: 's', batches: 1 + (round % 5), words })
        const kills = (round * 7) % (1 + (round % 5))
        await writer.until(({ kind, seq = 0 }) => kind === 'ack' && seq > length + 3 * kills)
        await writer.kill()
        const storage = sqliteStorage({ file, journal })
        const events = await readAll(storage, 's')
        await storage.close()
        expect(events).toEqual(notes(events.length))
        expect(events.length).toBeGreaterThanOrEqual(writer.acknowledged)
        length = events.length
      }
    },
  )

  it('while others write costs them nothing', { timeout: 120_000 }, async () => {
    const victim = new WriterProcess({ file, id: 'victim', batches: 10_000 })
    const other = new WriterProcess({ file, id: 'other', batches: 60 })
    await victim.until(({ kind }) => kind === 'ack')
    await victim.kill()
    await other.until(({ kind }) => kind === 'closed')
    const storage = sqliteStorage({ file })
    expect(await readAll(storage, 'other')).toEqual(notes(180))
    const left = await readAll(storage, 'victim')
    expect(left).toEqual(notes(left.length))
    expect(left.length).toBeGreaterThanOrEqual(victim.acknowledged)
    await storage.close()
  })
})
