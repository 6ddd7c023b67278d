// Proves that a dry run says what the repair will: whatever is flipped in an index, it names a refusal where there will be
// one, and none where there will not, without a byte written.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSessionError } from '@session-persistence/core'
import { expect, it } from 'vitest'
import { openSqlite, sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { notes, store } from './parts/sample-log.ts'
import { SCALE } from './parts/scale.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const PAGE = 4096
const SESSIONS = 200
const FLIPS = 60 * SCALE

it('a dry run and the repair agree', { timeout: 120_000 }, async () => {
  const file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  for (let count = 0; count < SESSIONS; count++) await store(storage, `session-${count}-with-a-long-name`, [notes(2)])
  await storage.close()
  const whole = await readFile(file)
  const pages = indexPages(file)
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
    let refusal: string | undefined
    const plan = await persistence.repair(id).catch((error: unknown) => error)
    expect(bytes.equals(await readFile(file))).toBe(true)
    if (isSessionError(plan, 'CORRUPT')) refusal = plan.message
    else refusal = (plan as { lost: { message: string }[] }).lost[0]?.message
    const done: unknown = await persistence.repair(id, { dryRun: false }).catch((error: unknown) => error)
    expect(isSessionError(done) ? done.message : undefined, `flip ${flip}`).toBe(refusal)
    verdicts[refusal === undefined ? 'mended' : 'refused']++
    await persistence.close()
    for (const side of ['-wal', '-shm']) await rm(`${file}${side}`, { force: true })
  }
  expect(verdicts.mended).toBeGreaterThan(0)
  expect(verdicts.refused).toBeGreaterThan(0)
})

/** Of both indexes, from 0. */
function indexPages(file: string): readonly number[] {
  using raw = new RawDatabase(file)
  return raw
    .rows("SELECT pageno FROM dbstat WHERE name LIKE 'session\\_by%' ESCAPE '\\'")
    .map(([page]) => Number(page) - 1)
}
