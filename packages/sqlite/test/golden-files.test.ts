// Proves that databases written by the first release are read, verified and continued by this one.
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AnySessionEvent, SessionHeader } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { openSqlite, sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { note, readAll } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

interface Expected {
  readonly header: SessionHeader
  readonly events: readonly AnySessionEvent[]
}

const golden = (name: string): string => fileURLToPath(new URL(`../fixtures/format-v1/${name}`, import.meta.url))
const expected = JSON.parse(await readFile(golden('expected.json'), 'utf8')) as Expected

async function copyOf(...names: readonly string[]): Promise<string> {
  const directory = await temporaryDirectory()
  for (const name of names) await copyFile(golden(name), join(directory, name))
  return join(directory, names[0] ?? '')
}

describe.each([
  ['closed', ['closed.db']],
  ['left by a killed process, with its log', ['killed.db', 'killed.db-wal']],
])('a database of format 1, %s', (_, names) => {
  it('is read to the letter', async () => {
    const file = await copyOf(...names)
    const storage = sqliteStorage({ file })
    const reader = await storage.openReader('golden')
    expect([reader.header, await reader.derived('summary')]).toEqual([expected.header, '{"kept":true}'])
    expect(JSON.stringify(await readAll(storage, 'golden'))).toBe(JSON.stringify(expected.events))
    expect((await storage.check('golden')).problems).toEqual([])
    await storage.close()
    using raw = new RawDatabase(file)
    expect(raw.value('SELECT count(*) FROM events')).toBe(expected.events.length)
    expect(raw.value('PRAGMA integrity_check')).toBe('ok')
  })

  it('is continued', async () => {
    const file = await copyOf(...names)
    const persistence = await openSqlite({ file })
    const session = await persistence.resume('golden')
    session.append('session/title', { title: 'continued' })
    await session.close()
    expect((await persistence.verify('golden')).events).toBe(expected.events.length + 2)
    await persistence.close()
  })
})

it('without its log, a killed database has lost the last two batches, and nothing else', async () => {
  const storage = sqliteStorage({ file: await copyOf('killed.db') })
  const events = await readAll(storage, 'golden')
  expect(JSON.stringify(events)).toBe(JSON.stringify(expected.events.slice(0, 8)))
  const writer = await storage.openWriter('golden', { kind: 'resume' })
  await writer.append([note(8)])
  await writer.close()
  await storage.close()
})
