// Proves that no changed bit and no cut of a database passes: each is noticed, or everything reads as before;
// and that looking at a damaged database changes not a byte of it.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSessionError } from '@session-persistence/core'
import { beforeAll, describe, expect, it } from 'vitest'
import { sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { notes, readAll, SAMPLE_BATCHES, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const IDS = ['s', 'other'] as const

/** A database in pages of 512 bytes: as many structures as a large one, in a file small enough to damage everywhere. */
async function smallDatabase(): Promise<Buffer> {
  const file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file })
  await store(storage, 's', SAMPLE_BATCHES)
  await store(storage, 'other', [notes(20)])
  const writer = await storage.openWriter('s', { kind: 'resume' })
  await writer.saveDerived('summary', '{"a":1}')
  await writer.close()
  await storage.close()
  {
    using raw = new RawDatabase(file)
    raw.exec('PRAGMA journal_mode = delete')
    raw.exec('PRAGMA page_size = 512')
    raw.exec('VACUUM')
    // Back to the mode that the backend expects, so that opening it writes nothing.
    raw.exec('PRAGMA journal_mode = wal')
  }
  return await readFile(file)
}

/** Everything that the interface gives of a database. */
async function contentOf(file: string): Promise<string> {
  const storage = sqliteStorage({ file })
  try {
    const content: unknown[] = [await storage.list({ limit: 10 })]
    for (const id of IDS) content.push(await readAll(storage, id), (await storage.check(id)).problems)
    return JSON.stringify(content)
  } finally {
    await storage.close()
  }
}

/** `same`, or what noticed the damage. Wrong content, a silent end and an untyped error are failures. */
async function verdictOn(file: string, bytes: Buffer, original: string): Promise<'same' | 'noticed'> {
  await writeFile(file, bytes)
  try {
    const content = await contentOf(file).finally(async () => {
      expect(bytes.equals(await readFile(file))).toBe(true)
    })
    if (content === original) return 'same'
    const [found, whole] = [content, original].map((text) => JSON.parse(text) as readonly unknown[])
    // What was read to its end is what was written.
    expect([found?.[1], found?.[3]]).toEqual([whole?.[1], whole?.[3]])
    expect(found?.[0]).toHaveLength(IDS.length)
    // Noticed without an error: a damaged entry of the list, or a problem of the check.
    expect(content).toMatch(/"state":"damaged"|"code":"CORRUPT"/)
    return 'noticed'
  } catch (error) {
    if (!isSessionError(error)) throw error
    expect(error.code).toMatch(/^(?:CORRUPT|UNSUPPORTED_VERSION)$/)
    return 'noticed'
  } finally {
    await Promise.all(['-wal', '-shm', '-journal'].map((suffix) => rm(`${file}${suffix}`, { force: true })))
  }
}

// A sample on every machine; the fault laboratory tries every bit and every length.
const BITS_APART = 97 // a prime visits every bit of a byte in turn
const LENGTHS_APART = 67
const PAGE_BYTES = 512

describe('a database', { timeout: 600_000 }, () => {
  let bytes: Buffer
  let original = ''

  beforeAll(async () => {
    bytes = await smallDatabase()
    const file = join(await temporaryDirectory(), 'whole.db')
    await writeFile(file, bytes)
    original = await contentOf(file)
    expect(JSON.parse(original)).toHaveLength(5)
  })

  it('with a flipped bit', async () => {
    const file = join(await temporaryDirectory(), 'sessions.db')
    const bits = bytes.length * 8
    const counts = { same: 0, noticed: 0 }
    // And all in the header of each page: they make a tree that leads to a row on one way only.
    const headers = Array.from({ length: bits }, (_, bit) => bit).filter((bit) => (bit >> 3) % PAGE_BYTES < 8)
    const sample = Array.from({ length: Math.ceil(bits / BITS_APART) }, (_, n) => n * BITS_APART)
    for (const bit of new Set([...sample, ...headers])) {
      const flipped = Buffer.from(bytes)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      try {
        counts[await verdictOn(file, flipped, original)]++
      } catch (error) {
        throw new Error(`bit ${bit & 7} of byte ${bit >> 3}`, { cause: error })
      }
    }
    expect(counts.noticed).toBeGreaterThan(0)
  })

  it('cut to any length', async () => {
    const file = join(await temporaryDirectory(), 'sessions.db')
    for (let length = 0; length < bytes.length; length += LENGTHS_APART) {
      const verdict = await verdictOn(file, bytes.subarray(0, length), original)
      expect([length, verdict]).toEqual([length, 'noticed'])
    }
  })

  it('with any page zeroed, or in the place of another', async () => {
    const file = join(await temporaryDirectory(), 'sessions.db')
    for (let page = 0; page < bytes.length / 512; page++) {
      const zeroed = Buffer.from(bytes).fill(0, page * 512, (page + 1) * 512)
      await verdictOn(file, zeroed, original)
      const swapped = Buffer.from(bytes)
      bytes.copy(swapped, page * 512, ((page + 1) * 512) % bytes.length, (((page + 1) * 512) % bytes.length) + 512)
      await verdictOn(file, swapped, original)
    }
  })
})
