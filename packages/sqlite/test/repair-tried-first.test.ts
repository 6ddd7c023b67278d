// Proves that a dry run says what the repair will: whatever is flipped, it names a refusal where there will be
// one, and none where there will not, without a byte written.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSessionError, type RepairReport } from '@session-persistence/core'
import { expect, it } from 'vitest'
import { openSqlite, sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { notes, store } from './parts/sample-log.ts'
import { SCALE } from './parts/scale.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const PAGE = 4096
const SESSIONS = 200
const FLIPS = 60 * SCALE

it('a dry run and the repair agree, and what is repaired can be continued', { timeout: 120_000 }, async () => {
  const file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  for (let count = 0; count < SESSIONS; count++) await store(storage, `session-${count}-with-a-long-name`, [notes(2)])
  await storage.close()
  const whole = await readFile(file)
  const pages = pagesIn(file)
  expect(pages.length).toBeGreaterThan(4)
  const verdicts = { mended: 0, refused: 0 }
  for (let flip = 0; flip < FLIPS; flip++) {
    const bytes = Buffer.from(whole)
    const page = pages[flip % pages.length] ?? 0
    // The heads of pages, where they lead to others, and their first cells; two bits at once.
    for (const step of [1, 7]) {
      const at = page * PAGE + ((flip * 37 * step) % 200)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (flip % 8))
    }
    await writeFile(file, bytes)
    const persistence = await openSqlite({ file })
    const id = `session-${flip % SESSIONS}-with-a-long-name`
    const plan = await persistence.repair(id).catch((error: unknown) => error)
    expect(bytes.equals(await readFile(file))).toBe(true)
    const done = await persistence.repair(id, { dryRun: false }).catch((error: unknown) => error)
    const told = isSessionError(plan, 'CORRUPT') ? [{ message: plan.message }] : (plan as RepairReport).lost
    if (isSessionError(done, 'CORRUPT')) {
      expect(told, `flip ${flip}`).toContainEqual({ message: done.message })
      verdicts.refused++
    } else {
      expect((done as RepairReport).lost, `flip ${flip}`).toEqual(told)
      verdicts.mended++
      // And whatever a repair has taken for done can go on.
      const session = await persistence.resume(id)
      session.append('session/title', { title: 'on' })
      await session.close()
    }
    await persistence.close()
    for (const side of ['-wal', '-shm']) await rm(`${file}${side}`, { force: true })
  }
  expect(verdicts.mended).toBeGreaterThan(0)
  expect(verdicts.refused).toBeGreaterThan(0)
})

/** Of every table and index, from 0: as many of the one as of the other. */
function pagesIn(file: string): readonly number[] {
  using raw = new RawDatabase(file)
  const pagesOf = (names: string): readonly number[] =>
    raw.rows('SELECT pageno FROM dbstat WHERE name GLOB ?', names).map(([page]) => Number(page) - 1)
  // Not the page of the schema: without it there is no database.
  const [indexes, tables] = [pagesOf('session_by*'), [...pagesOf('session'), ...pagesOf('[dhr]*')]]
  return indexes.flatMap((page, at) => [page, tables[(at * 7) % tables.length] ?? page])
}
