// Proves that a log being built, rewritten or deleted is seen whole or not at all, whoever dies in between.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AnySessionEvent } from '@session-persistence/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { note, notes, readAll, sampleHeader, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

let file = ''
let storage: ReturnType<typeof sqliteStorage>

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
  storage = sqliteStorage({ file })
})

async function* pages(...all: readonly (readonly AnySessionEvent[])[]): AsyncGenerator<readonly AnySessionEvent[]> {
  yield* all
}

function rowsIn(table: string): unknown {
  using raw = new RawDatabase(file)
  return raw.value(`SELECT count(*) FROM ${table}`)
}

describe('a staged log', () => {
  it('appears whole when it is published', async () => {
    const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s'), staged: true })
    await writer.append(notes(3))
    await writer.append(notes(2, 3))
    await expect(storage.openReader('s')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await storage.list({ limit: 10 })).toEqual([])
    await writer.publish()
    await writer.publish()
    expect(await readAll(storage, 's')).toEqual(notes(5))
    await writer.append([note(5)])
    await writer.close()
    expect(await readAll(storage, 's')).toEqual(notes(6))
    await storage.close()
  })

  it('without events can be published too', async () => {
    const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s'), staged: true })
    await writer.publish()
    await writer.close()
    expect(await storage.list({ limit: 10 })).toMatchObject([
      { id: 's', events: 0, updatedAt: sampleHeader('s').createdAt },
    ])
    expect(await readAll(storage, 's')).toEqual([])
    await storage.close()
  })

  it('leaves nothing when it is closed before', async () => {
    const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s'), staged: true })
    await writer.append(notes(3))
    await writer.close()
    await storage.close()
    for (const table of ['session', 'header', 'record']) expect(rowsIn(table)).toBe(0)
  })

  it('of a process that died is removed by the next holder of its lock', async () => {
    const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s'), staged: true })
    await writer.append(notes(1200))
    await writer.publish()
    await writer.close()
    {
      // As if it had died just before it was published.
      using raw = new RawDatabase(file)
      raw.exec("UPDATE session SET place = '.staged'")
    }
    await store(storage, 's', [notes(2)])
    expect(await readAll(storage, 's')).toEqual(notes(2))
    await storage.close()
    expect([rowsIn('session'), rowsIn('header'), rowsIn('record')]).toEqual([1, 1, 2])
  })
})

describe('a rewrite', () => {
  it('changes header and events in one step, and keeps the original where it says', async () => {
    await store(storage, 's', [notes(4)])
    const writer = await storage.openWriter('s', { kind: 'resume' })
    await writer.saveDerived('summary', 'of the old log')
    const header = { ...sampleHeader('s'), labels: { rewritten: 'yes' } }
    const at = await writer.rewrite(header, pages([note(0, 'new')], [], [note(1, 'newer')]), 'v0')
    expect(at).toMatch(/session number 1/)
    expect(writer.header).toEqual(header)
    expect(await readAll(storage, 's')).toEqual([note(0, 'new'), note(1, 'newer')])
    await writer.append([note(2)])
    await writer.close()
    const reader = await storage.openReader('s')
    expect([reader.header, await reader.derived('summary')]).toEqual([header, undefined])
    await storage.close()
    using raw = new RawDatabase(file)
    expect(raw.rows('SELECT place, next_seq FROM session ORDER BY number')).toEqual([
      ['v0', 4],
      ['', 3],
    ])
  })

  it('that fails leaves the log as it was', async () => {
    await store(storage, 's', [notes(4)])
    const writer = await storage.openWriter('s', { kind: 'resume' })
    async function* failing(): AsyncGenerator<readonly AnySessionEvent[]> {
      yield [note(0, 'new')]
      throw new Error('the source failed')
    }
    await expect(writer.rewrite(sampleHeader('s'), failing())).rejects.toThrow('the source failed')
    expect(await readAll(storage, 's')).toEqual(notes(4))
    await writer.append([note(4)])
    await writer.close()
    await (await storage.openWriter('s', { kind: 'resume' })).close()
    expect(await readAll(storage, 's')).toEqual(notes(5))
    await storage.close()
    expect(rowsIn('session')).toBe(1)
  })
})

describe('a deletion', () => {
  it('takes originals and documents along, and the id can be used again', async () => {
    await store(storage, 's', [notes(4)])
    const writer = await storage.openWriter('s', { kind: 'resume' })
    await writer.rewrite(sampleHeader('s'), pages(notes(1200)), 'v0')
    await writer.saveDerived('snapshots', '[]')
    await expect(storage.delete('s')).rejects.toMatchObject({ code: 'LOCKED' })
    await writer.close()
    expect(await storage.delete('s')).toBe(true)
    expect(await storage.delete('s')).toBe(false)
    await store(storage, 's', [notes(1)])
    expect(await readAll(storage, 's')).toEqual(notes(1))
    await storage.close()
    expect(['session', 'header', 'record', 'derived'].map(rowsIn)).toEqual([1, 1, 1, 0])
  })

  it('leaves no text of the session in the file', async () => {
    const secret = 'hunter2-hunter2-hunter2'
    await store(storage, 's', [[note(0, { secret })], [note(1, { secret: secret.repeat(1000) })]])
    await store(storage, 'other', [notes(1)])
    await storage.delete('s')
    await storage.close()
    expect((await readFile(file)).includes(secret)).toBe(false)
  })
})
