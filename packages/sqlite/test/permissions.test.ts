// Proves that the database and everything beside it is private from its first moment, whatever the umask.
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { backupSqlite, sqliteStorage } from '../src/index.ts'
import { notes, sampleHeader } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const umask = process.umask()

afterEach(() => {
  process.umask(umask)
})

function modesBelow(directory: string): { readonly [name: string]: string } {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  const modes = entries.map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return [path.slice(directory.length + 1), (statSync(path).mode & 0o777).toString(8)] as const
  })
  return Object.fromEntries(modes.sort())
}

describe.each([0o000, 0o022, 0o077, 0o777])('under the umask %o', (mask) => {
  it.each(['wal', 'delete'] as const)('every file is 0600 and every directory 0700 (journal: %s)', async (journal) => {
    const place = await temporaryDirectory()
    const file = join(place, 'made', 'deep', 'sessions.db')
    process.umask(mask)
    const storage = sqliteStorage({ file, journal })
    const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
    await writer.append(notes(3))
    const companions =
      journal === 'wal' ? { 'made/deep/sessions.db-shm': '600', 'made/deep/sessions.db-wal': '600' } : {}
    const always = {
      made: '700',
      'made/deep': '700',
      'made/deep/sessions.db': '600',
      'made/deep/sessions.db.locks': '700',
    }
    expect(modesBelow(place)).toEqual({ ...always, ...companions, 'made/deep/sessions.db.locks/s': '600' })
    await writer.close()
    await storage.close()
    await backupSqlite({ file, journal, to: join(place, 'made', 'copy.db') })
    expect(modesBelow(place)).toEqual({ ...always, 'made/copy.db': '600' })
  })

  it('what only reading makes is private too', async () => {
    const place = await temporaryDirectory()
    const file = join(place, 'sessions.db')
    const first = sqliteStorage({ file })
    const writer = await first.openWriter('s', { kind: 'create', header: sampleHeader('s') })
    await writer.append(notes(3))
    await writer.close()
    await first.close()
    process.umask(mask)
    const storage = sqliteStorage({ file })
    expect(await storage.list({ limit: 10 })).toHaveLength(1)
    for (const mode of Object.values(modesBelow(place))) expect(mode).toMatch(/^(?:600|700)$/)
    await storage.close()
    expect(Object.keys(modesBelow(place))).toEqual(['sessions.db', 'sessions.db.locks'])
  })
})

it('an existing directory keeps its permissions', async () => {
  const place = await temporaryDirectory()
  mkdirSync(join(place, 'shared'), { mode: 0o755 })
  const storage = sqliteStorage({ file: join(place, 'shared', 'sessions.db') })
  const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
  await writer.append(notes(1))
  await writer.close()
  await storage.close()
  expect(modesBelow(place)).toMatchObject({ shared: '755', 'shared/sessions.db': '600' })
})
