// Proves that every range of a log is exact, forward and backward, packed or not, and that elided chunks add up.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AnySessionEvent, isElided, type StorageReader } from '@session-persistence/core'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { chunk, errorOf, note, notes, readAll, sampleHeader, store } from './parts/sample-log.ts'
import { SCALE } from './parts/scale.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

/** Runs longer than a row, single chunks, and other events, over several pages. */
const EVENTS: readonly AnySessionEvent[] = Array.from({ length: 3000 }, (_, seq) =>
  seq % 401 < 300 ? chunk(seq, `text ${seq}`) : note(seq),
)

describe('a range', () => {
  let reader: StorageReader

  beforeAll(async () => {
    // Not a temporary directory of one test.
    const directory = await mkdtemp(join(tmpdir(), 'sqlite-ranges-'))
    const storage = sqliteStorage({ file: join(directory, 'sessions.db') })
    await store(storage, 's', [
      EVENTS.slice(0, 700),
      ...EVENTS.slice(700, 720).map((event) => [event]),
      EVENTS.slice(720),
    ])
    reader = await storage.openReader('s')
    return async () => {
      await reader.close()
      await storage.close()
      await rm(directory, { recursive: true })
    }
  })

  const seq = fc.integer({ min: 0, max: 3100 })

  it('is exact at both ends', async () => {
    await fc.assert(
      fc.asyncProperty(seq, seq, fc.boolean(), async (from, to, reverse) => {
        const given: AnySessionEvent[] = []
        for await (const page of reader.read({ from, to, reverse })) given.push(...(page as AnySessionEvent[]))
        const expected = EVENTS.slice(from, to + 1)
        expect(given).toEqual(reverse ? expected.toReversed() : expected)
      }),
      { numRuns: 100 * SCALE },
    )
  })

  it('with elided chunks covers the same seqs', async () => {
    await fc.assert(
      fc.asyncProperty(seq, seq, async (from, to) => {
        let next = from
        for await (const page of reader.read({ from, to, elideChunks: true })) {
          for (const record of page) {
            expect(record.seq).toBe(next)
            if (isElided(record)) expect([record.turn, record.step]).toEqual([1, 1])
            else expect(record).toEqual(EVENTS[record.seq])
            next += isElided(record) ? record.count : 1
          }
        }
        expect(next).toBe(Math.max(from, Math.min(to, EVENTS.length - 1) + 1))
      }),
      { numRuns: 100 * SCALE },
    )
  })
})

describe('a reader', () => {
  it('keeps its end while a writer goes on, and is told that there is more', async () => {
    const storage = sqliteStorage({ file: join(await temporaryDirectory(), 'sessions.db') })
    const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
    await writer.append(notes(3))
    const before = await storage.openReader('s')
    const changed = before.changed()
    await writer.append(notes(2, 3))
    expect(await changed).toBe('changed')
    expect(before.tail).toEqual({ nextSeq: 3, lastTime: note(2).time })
    const given: unknown[] = []
    for await (const page of before.read({ to: 10 })) given.push(...page)
    expect(given).toEqual(notes(3))
    await writer.close()
    await storage.close()
  })

  it('gives everything before a damaged record, then CORRUPT with its seq and the file', async () => {
    const file = join(await temporaryDirectory(), 'sessions.db')
    const storage = sqliteStorage({ file })
    await store(storage, 's', [notes(10)])
    {
      using raw = new RawDatabase(file)
      raw.exec("UPDATE record SET data = replace(data, 'note 6', 'note X') WHERE data LIKE '%note 6%'")
      raw.exec("DELETE FROM record WHERE data LIKE '%note 8%'")
    }
    const reader = await storage.openReader('s')
    for (const [range, before, seq] of [
      [{}, notes(6), 6],
      [{ from: 7 }, [note(7)], 8],
      [{ from: 7, reverse: true }, [note(9)], 8],
    ] as const) {
      const given: unknown[] = []
      const error = await errorOf(async () => {
        for await (const page of reader.read(range)) given.push(...page)
      })
      expect(given).toEqual(before)
      expect(error).toMatchObject({ code: 'CORRUPT', seq, path: file })
    }
    expect((await storage.check('s')).problems.map(({ seq }) => seq)).toEqual([6, 8])
    await storage.close()
  })

  it('is told that its session was deleted, also in the middle of a read', async () => {
    const storage = sqliteStorage({ file: join(await temporaryDirectory(), 'sessions.db') })
    await store(storage, 's', [notes(5000)])
    const reader = await storage.openReader('s')
    const changed = reader.changed()
    const pages = reader.read({})[Symbol.asyncIterator]()
    await pages.next()
    await storage.delete('s')
    expect(await changed).toBe('deleted')
    await expect(pages.next()).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await storage.close()
  })

  it('stops waiting with the reason of its signal', async () => {
    const storage = sqliteStorage({ file: join(await temporaryDirectory(), 'sessions.db') })
    await store(storage, 's', [notes(1)])
    const reader = await storage.openReader('s')
    const controller = new AbortController()
    const changed = reader.changed(controller.signal)
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(changed).rejects.toBe(reason)
    await expect(reader.changed(controller.signal)).rejects.toBe(reason)
    await storage.close()
  })

  it('sees what another process commits', async () => {
    const file = join(await temporaryDirectory(), 'sessions.db')
    const [here, there] = [sqliteStorage({ file }), sqliteStorage({ file })]
    await store(here, 's', [notes(1)])
    const reader = await here.openReader('s')
    const changed = reader.changed()
    const writer = await there.openWriter('s', { kind: 'resume' })
    await writer.append([note(1)])
    expect(await changed).toBe('changed')
    expect(await readAll(here, 's')).toEqual(notes(2))
    await writer.close()
    await there.close()
    await here.close()
  })
})
