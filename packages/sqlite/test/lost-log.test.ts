// Proves that a write-ahead log that was deleted, cut or changed is a lost suffix at a batch boundary, never wrong data,
// and that a head receipt finds every such loss.
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HeadReceipt } from '@session-persistence/core'
import { beforeAll, describe, expect, it } from 'vitest'
import { openSqlite, sqliteStorage } from '../src/index.ts'
import { notes, readAll, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'
import { WriterProcess } from './parts/writer-process.ts'

const FIRST = 4
const BATCH = 3
const BATCHES = 5
const TOTAL = FIRST + BATCH * BATCHES

interface Killed {
  readonly database: Buffer
  readonly log: Buffer
  readonly head: HeadReceipt
}

/** A session whose first batch is in the database, and whose others are only in the log of a killed writer. */
async function killedWriter(): Promise<Killed> {
  const file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  await store(storage, 's', [notes(FIRST)])
  await storage.close()
  const writer = new WriterProcess({ file, id: 's', batches: BATCHES, size: BATCH, words: ['hold'] })
  await writer.until(({ seq }) => seq === TOTAL)
  await writer.kill()
  const [database, log] = await Promise.all([readFile(file), readFile(`${file}-wal`)])
  const copy = join(await temporaryDirectory(), 'copy.db')
  await copyFile(file, copy)
  await copyFile(`${file}-wal`, `${copy}-wal`)
  const persistence = await openSqlite({ file: copy })
  const { head, events } = await persistence.verify('s')
  await persistence.close()
  expect(events).toBe(TOTAL)
  return { database, log, head }
}

// A sample on every machine; the fault laboratory tries every bit and every length.
const LENGTHS_APART = 509
const BITS_APART = 4093

describe('the write-ahead log of a killed writer', { timeout: 300_000 }, () => {
  let killed: Killed
  let file = ''

  beforeAll(async () => {
    killed = await killedWriter()
  })

  /** The events that are left. */
  async function surviving(log: Uint8Array | undefined): Promise<number> {
    for (const suffix of ['-wal', '-shm']) await rm(`${file}${suffix}`, { force: true })
    await writeFile(file, killed.database)
    if (log !== undefined) await writeFile(`${file}-wal`, log)
    const storage = sqliteStorage({ file })
    const events = await readAll(storage, 's')
    await storage.close()
    expect(events).toEqual(notes(events.length))
    expect(events.length >= FIRST && (events.length - FIRST) % BATCH === 0).toBe(true)
    return events.length
  }

  async function expectFound(left: number): Promise<void> {
    const persistence = await openSqlite({ file })
    const report = await persistence.verify('s', { expectHead: killed.head })
    expect([report.ok, report.problems[0]?.code]).toEqual(left === TOTAL ? [true, undefined] : [false, 'CORRUPT'])
    if (left < TOTAL) {
      await expect(persistence.resume('s', { expectHead: killed.head })).rejects.toMatchObject({ code: 'CORRUPT' })
    }
    await persistence.close()
  }

  it('gives everything when nobody touches it', async () => {
    file = join(await temporaryDirectory(), 'sessions.db')
    expect(await surviving(killed.log)).toBe(TOTAL)
  })

  it('deleted', async () => {
    file = join(await temporaryDirectory(), 'sessions.db')
    expect(await surviving(undefined)).toBe(FIRST)
    await expectFound(FIRST)
  })

  it('cut to any length', async () => {
    file = join(await temporaryDirectory(), 'sessions.db')
    let before = 0
    for (let length = 0; length <= killed.log.length; length += LENGTHS_APART) {
      const left = await surviving(killed.log.subarray(0, length))
      // More bytes never give fewer events.
      expect(left).toBeGreaterThanOrEqual(before)
      if (left !== before) await expectFound(left)
      before = left
    }
  })

  it('with a flipped bit', async () => {
    file = join(await temporaryDirectory(), 'sessions.db')
    const found = new Set<number>()
    for (let bit = 0; bit < killed.log.length * 8; bit += BITS_APART) {
      const flipped = Buffer.from(killed.log)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const left = await surviving(flipped)
      found.add(left)
      await expectFound(left)
    }
    // Some flips cost a suffix: otherwise this would prove nothing.
    expect(Math.min(...found)).toBeLessThan(TOTAL)
  })
})
