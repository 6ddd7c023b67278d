// Proves that a damaged page takes no row before it away, although rows are read many at a time.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSessionError } from '@session-persistence/core'
import { expect, it } from 'vitest'
import { sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { errorOf, notes, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const PAGE_BYTES = 4096

/** The leaves of the table in order. */
function leaves(file: string): readonly { readonly page: number; readonly rows: number }[] {
  using raw = new RawDatabase(file)
  const sql = "SELECT pageno, ncell FROM dbstat WHERE name = 'record' AND pagetype = 'leaf' ORDER BY path"
  return raw.rows(sql).map(([page, rows]) => ({ page: Number(page), rows: Number(rows) }))
}

it.each([0, 1, 2, 4])('the rows before damaged leaf %i are given, forwards and backwards', async (damaged) => {
  const file = join(await temporaryDirectory(), 'sessions.db')
  const events = notes(300)
  const storage = sqliteStorage({ file })
  await store(storage, 's', [events])
  await storage.close()
  const found = leaves(file)
  expect(found.length).toBeGreaterThan(damaged + 1)
  const bytes = await readFile(file)
  bytes.fill(0, ((found[damaged]?.page ?? 0) - 1) * PAGE_BYTES, (found[damaged]?.page ?? 0) * PAGE_BYTES)
  await writeFile(file, bytes)

  const before = found.slice(0, damaged).reduce((sum, { rows }) => sum + rows, 0)
  const behind = found.slice(damaged + 1).reduce((sum, { rows }) => sum + rows, 0)
  expect(await readUntilDamage(file, false)).toEqual(events.slice(0, before))
  expect(await readUntilDamage(file, true)).toEqual(events.slice(events.length - behind).toReversed())
})

async function readUntilDamage(file: string, reverse: boolean): Promise<readonly unknown[]> {
  const storage = sqliteStorage({ file })
  const found: unknown[] = []
  const error = await errorOf(async () => {
    const reader = await storage.openReader('s')
    for await (const page of reader.read({ reverse })) found.push(...page)
  })
  await storage.close()
  expect(isSessionError(error, 'CORRUPT')).toBe(true)
  return found
}
