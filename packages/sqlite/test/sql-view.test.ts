// Proves that plain SQL sees every event as the interface gives it, packed runs and all, and every session.
import { join } from 'node:path'
import type { AnySessionEvent } from '@session-persistence/core'
import { expect, it } from 'vitest'
import { sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { chunk, notes, readAll, SAMPLE_EVENTS, SAMPLE_TIME, sampleHeader, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

/** A row of the view as an event. */
function eventOf([seq, time, type, data, ignorable, surface, sources]: readonly unknown[]): AnySessionEvent {
  const parsed = (json: unknown): unknown => (json === null ? undefined : JSON.parse(String(json)))
  return JSON.parse(
    JSON.stringify({
      seq,
      time,
      type: JSON.parse(`"${String(type)}"`) as unknown,
      data: parsed(data),
      ignorable: parsed(ignorable),
      surface: parsed(surface),
      sources: parsed(sources),
    }),
  ) as AnySessionEvent
}

it('the view `events` gives what the interface gives', async () => {
  const file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  const long = Array.from({ length: 300 }, (_, at) => chunk(12 + at, at % 50 === 0 ? 'half \ud83d' : `word ${at} "é"`))
  await store(storage, 's', [SAMPLE_EVENTS, long])
  await store(storage, 'other', [notes(3)])
  // What nobody may see yet, or any more, is not in the views.
  const staged = await storage.openWriter('staged', { kind: 'create', header: sampleHeader('staged'), staged: true })
  await staged.append(long.map((event, seq) => ({ ...event, seq })))
  const stored = await readAll(storage, 's')
  {
    using raw = new RawDatabase(file)
    const columns = 'seq, time, type, data, ignorable, surface, sources'
    const rows = raw.rows(`SELECT ${columns} FROM events WHERE session = 's' ORDER BY seq`)
    expect(rows.map(eventOf)).toEqual(stored)
    expect(stored).toHaveLength(312)
    expect(raw.value('SELECT count(*) FROM record WHERE events > 1')).toBeGreaterThan(2)
    expect(raw.rows('SELECT session, count(*) FROM events GROUP BY session ORDER BY session')).toEqual([
      ['other', 3],
      ['s', 312],
    ])
    expect(raw.value("SELECT json_extract(data, '$.text') FROM events WHERE session = 's' AND seq = 4")).toBe('llo')
    expect(raw.rows('SELECT id, created_at, updated_at, events, cwd FROM sessions ORDER BY id')).toEqual([
      ['other', SAMPLE_TIME, SAMPLE_TIME + 2, 3, '/home/someone/työ'],
      ['s', SAMPLE_TIME, long.at(-1)?.time, 312, '/home/someone/työ'],
    ])
  }
  await staged.close()
  await storage.close()
})

it('deleting a session with plain SQL takes everything of it along', async () => {
  const file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  await store(storage, 's')
  await store(storage, 'other', [notes(3)])
  const writer = await storage.openWriter('s', { kind: 'resume' })
  await writer.saveDerived('summary', '{}')
  await writer.close()
  await storage.close()
  using raw = new RawDatabase(file)
  raw.exec("DELETE FROM session WHERE number = (SELECT session FROM header WHERE header ->> '$.id' = 's')")
  const left = ['session', 'header', 'record', 'derived'].map((table) => raw.value(`SELECT count(*) FROM ${table}`))
  expect(left).toEqual([1, 1, 3, 0])
})
