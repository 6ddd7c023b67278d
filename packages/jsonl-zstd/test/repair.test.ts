// Proves that repair keeps every batch that can be proven, restores damaged commit records, and says what is lost.
import { randomBytes } from 'node:crypto'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import {
  type AnySessionEvent,
  createPersistence,
  type SessionHeader,
  type StorageRepair,
} from '@session-persistence/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { ASKED, BEGUN } from '../../jsonl/test/parts/asked-for-a-call.ts'
import { readAll, SAMPLE_TIME, sampleHeader, store } from '../../jsonl/test/parts/sample-log.ts'
import { temporaryDirectory } from '../../jsonl/test/parts/temporary-directory.ts'
import { readCommit, saltOf, writeCommit } from '../src/commit-record.ts'
import { jsonlZstdStorage } from '../src/index.ts'
import { logPath, readLog, type UnitPlace, unitsOf, writeLog } from './parts/frame-log.ts'

const BATCHES: readonly (readonly AnySessionEvent[])[] = Array.from({ length: 8 }, (_, batch) =>
  Array.from({ length: 3 }, (_, index) => {
    const seq = 3 * batch + index
    return {
      seq,
      time: SAMPLE_TIME + seq,
      type: 'acme/note',
      data: { n: seq, text: 'note '.repeat(seq) },
      ignorable: true,
    }
  }),
)
const EVENTS = BATCHES.flat()

let root = ''
let storage: ReturnType<typeof jsonlZstdStorage>
let whole: Buffer
let units: readonly UnitPlace[]

beforeEach(async () => {
  root = await temporaryDirectory()
  storage = jsonlZstdStorage({ root, durability: 'process', sealAtClose: false })
  await store(storage, 's', BATCHES)
  whole = await readLog(root, 's')
  units = unitsOf(whole)
})

function batch(index: number): UnitPlace {
  return units[index + 1] ?? { start: whole.length, commit: whole.length, end: whole.length }
}

function flipped(at: number): Buffer {
  const bytes = Buffer.from(whole)
  bytes[at] = (bytes[at] ?? 0) ^ 4
  return bytes
}

function twiceFlipped(at: number): Buffer {
  const bytes = flipped(at)
  bytes[at + 2] = (bytes[at + 2] ?? 0) ^ 4
  return bytes
}

async function repaired(bytes: Buffer): Promise<Awaited<ReturnType<NonNullable<typeof storage.repair>>>> {
  await writeLog(root, 's', bytes)
  if (storage.repair === undefined) throw new Error('no repair')
  const plan = await storage.repair('s', { dryRun: true })
  expect((await readLog(root, 's')).equals(bytes)).toBe(true)
  const done = await storage.repair('s', { dryRun: false })
  expect({ ...done, dryRun: true, originalAt: undefined }).toEqual({ ...plan, originalAt: undefined })
  expect(await storage.check('s')).toMatchObject({ problems: [], events: done.kept })
  if (done.originalAt !== undefined) expect((await stat(done.originalAt)).size).toBe(bytes.length)
  return done
}

function isLost(seq: number): unknown {
  return expect.objectContaining({ seq, type: 'session-persistence/lost' })
}

describe('a damaged commit record', () => {
  it.each([0, 3, 7])('of batch %i is restored: no event is lost', async (index) => {
    const done = await repaired(flipped(batch(index).commit + 20))
    expect(done).toMatchObject({ kept: 24, lost: [] })
    expect(await readAll(storage, 's')).toEqual(EVENTS)
  })

  it('that is missing altogether is restored, and so are the ones behind it, which stand elsewhere now', async () => {
    const done = await repaired(Buffer.concat([whole.subarray(0, batch(2).commit), whole.subarray(batch(2).end)]))
    expect(done).toMatchObject({ kept: 24 })
    expect(await readAll(storage, 's')).toEqual(EVENTS)
  })

  it('of the header is restored: the content checksum proves what its line says', async () => {
    const done = await repaired(flipped((units[0]?.commit ?? 0) + 30))
    expect(done).toMatchObject({ kept: 24, lost: [] })
    expect(await readAll(storage, 's')).toEqual(EVENTS)
    const reader = await storage.openReader('s')
    await reader.close()
    expect(reader.header).toEqual(sampleHeader('s'))
  })
})

describe('a frame with one wrong byte', () => {
  it.each([false, true])('is put right, whichever byte it is (sealed: %s)', async (isSealed) => {
    if (isSealed) {
      await storage.seal('s')
      whole = await readLog(root, 's')
      units = unitsOf(whole)
    }
    const { start, commit } = batch(isSealed ? 0 : 3)
    for (let at = start; at < commit; at++) {
      for (const change of [1 << (at % 8), 0xff]) {
        const bytes = Buffer.from(whole)
        bytes[at] = (bytes[at] ?? 0) ^ change
        const done = await repaired(bytes)
        expect(done, `byte ${at - start}, ${change}`).toMatchObject({ kept: 24, lost: [] })
        expect(await readAll(storage, 's')).toEqual(EVENTS)
        await rm(done.originalAt ?? '')
      }
    }
  })

  it('is put right where it is longer than a page, and where nothing stands behind it', async () => {
    const long = [{ ...EVENTS[0], data: { text: randomBytes(3 * 1024 * 1024).toString('base64') } } as AnySessionEvent]
    await storage.delete('s')
    await store(storage, 's', [long])
    whole = await readLog(root, 's')
    units = unitsOf(whole)
    const { start, commit } = batch(0)
    for (const at of [start, start + 4, start + 10, start + 1_000_000, commit - 1]) {
      expect(await repaired(flipped(at))).toMatchObject({ kept: 1, lost: [] })
      expect(await readAll(storage, 's')).toEqual(long)
    }
  })

  it('is not taken for what it is not when the content checksum does not agree', async () => {
    const bytes = flipped(batch(3).start + 12)
    // Its record counts, and its sum is that of other bytes.
    const { commit } = batch(3)
    const frame = bytes.subarray(batch(3).start, commit)
    const salt = saltOf(bytes, commit, commit) ?? 0
    const record = readCommit(bytes, commit, salt, commit)
    if (record === undefined) throw new Error('no record')
    const other = Buffer.from(frame)
    other[20] = (other[20] ?? 0) ^ 1
    writeCommit(bytes, commit, { ...record, frameCrc: crc32(other) }, salt, commit)
    const done = await repaired(bytes)
    expect(done.lost).toContainEqual(expect.objectContaining({ from: 9, to: 11 }))
  })
})

describe('a frame with two wrong bytes', () => {
  it('loses its events, for which empty ones stand; everything behind keeps its seq', async () => {
    const done = await repaired(twiceFlipped(batch(3).start + 12))
    expect(done.kept).toBe(24)
    expect(done.lost).toEqual([
      expect.objectContaining({ from: 9, to: 11 }),
      expect.objectContaining({ offset: batch(3).start, bytes: batch(3).end - batch(3).start }),
    ])
    const expected = EVENTS.map((event) => (event.seq >= 9 && event.seq <= 11 ? isLost(event.seq) : event))
    expect(await readAll(storage, 's')).toEqual(expected)
  })

  it('at the end ends the log', async () => {
    const done = await repaired(twiceFlipped(batch(7).start + 12))
    expect(done.kept).toBe(21)
    expect(await readAll(storage, 's')).toEqual(EVENTS.slice(0, 21))
  })

  it('whose sizes make it swallow what follows does not hide the rest', async () => {
    const bytes = Buffer.from(whole)
    // The first block header of the batch: a size of 100,000 bytes, which reaches behind the end of the file.
    const header = batch(2).start + 6
    bytes.writeUIntLE((bytes.readUIntLE(header, 3) & 7) | (100_000 << 3), header, 3)
    const done = await repaired(bytes)
    expect(done.kept).toBe(24)
    expect(await readAll(storage, 's', { from: 9 })).toEqual(EVENTS.slice(9))
  })
})

it('a damaged start of a call at the end does not make the call safe to run', async () => {
  await storage.delete('s')
  await store(storage, 's', [ASKED, BEGUN])
  const bytes = await readLog(root, 's')
  const last = unitsOf(bytes).at(-1)?.start ?? 0
  for (const at of [last + 12, last + 14]) bytes[at] = (bytes[at] ?? 0) ^ 4
  const done = await repaired(bytes)
  expect(done.kept).toBe(ASKED.length + 1)
  expect(await readAll(storage, 's')).toEqual([...ASKED, isLost(ASKED.length)])
  const session = await createPersistence(storage).resume('s')
  expect(session.recovery?.openCalls).toMatchObject([{ tier: 'outcome-unknown' }])
  await session.close()
})

describe('units in other places', () => {
  it('are read in order of seq, wherever they stand', async () => {
    const parts = [whole.subarray(0, batch(1).start)]
    for (const index of [4, 2, 1, 3, 3]) parts.push(whole.subarray(batch(index).start, batch(index).end))
    parts.push(whole.subarray(batch(5).start))
    const done = await repaired(Buffer.concat(parts))
    expect(done.kept).toBe(24)
    expect(await readAll(storage, 's')).toEqual(EVENTS)
  })

  it('behind bytes that were put in between are found', async () => {
    const junk = Buffer.from('what another program wrote here')
    const done = await repaired(
      Buffer.concat([whole.subarray(0, batch(4).start), junk, whole.subarray(batch(4).start)]),
    )
    expect(done.kept).toBe(24)
    expect(await readAll(storage, 's')).toEqual(EVENTS)
  })

  it('of another session are not taken', async () => {
    await store(storage, 'other', BATCHES)
    const other = await readLog(root, 'other')
    const foreign = other.subarray(unitsOf(other)[8]?.start)
    const done = await repaired(Buffer.concat([whole.subarray(0, batch(7).start), foreign]))
    // A record of another session may look like one of this file with a chance of one in some thousands.
    expect(done.kept).toBe(21)
  })
})

it('of two logs that went on from one, joined in one file, every event that gives way is named', async () => {
  const laptop = whole.subarray(0, batch(4).end)
  await storage.delete('s')
  const newSalt = (): number => Number.parseInt(/"salt":"([0-9a-f]{8})"/.exec(whole.toString('latin1'))?.[1] ?? '', 16)
  const sameSalt = jsonlZstdStorage({ root, durability: 'process', sealAtClose: false, newSalt })
  const other = BATCHES.slice(3, 6).map((events) => events.map((event) => ({ ...event, data: 'desktop' })))
  await store(sameSalt, 's', [...BATCHES.slice(0, 3), ...other])
  const desktop = await readLog(root, 's')
  const done = await repaired(Buffer.concat([laptop, desktop.subarray(batch(3).start)]))
  expect(done).toMatchObject({
    kept: 18,
    lost: [{ from: 9, to: 14, message: expect.stringMatching(/6 other events .* from seq 15 on, is kept/) }],
  })
  expect(await readAll(storage, 's')).toEqual([...EVENTS.slice(0, 15), ...(other[2] ?? [])])
})

describe('a log of one batch', () => {
  const HEADER: SessionHeader = { ...sampleHeader('short'), parent: 'p', seedLength: 2, labels: { a: 'x'.repeat(50) } }
  const NOTES = EVENTS.slice(0, 8)
  let short: Buffer

  beforeEach(async () => {
    const writer = await storage.openWriter('short', { kind: 'create', header: HEADER })
    await writer.append(NOTES)
    await writer.close()
    short = await readLog(root, 'short')
  })

  async function salvagedOf(
    bytes: Buffer,
  ): Promise<readonly [StorageRepair, SessionHeader, readonly AnySessionEvent[]]> {
    await writeLog(root, 'short', bytes)
    const done = await storage.repair?.('short', { dryRun: false })
    if (done?.originalAt === undefined) throw new Error('nothing was repaired')
    await rm(done.originalAt)
    const reader = await storage.openReader('short')
    await reader.close()
    return [done, reader.header, await readAll(storage, 'short')]
  }

  it('loses nothing to a flipped bit, wherever it is', async () => {
    for (let at = 0; at < short.length; at++) {
      const bytes = Buffer.from(short)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8))
      const [done, header, events] = await salvagedOf(bytes)
      expect([at, done.kept, done.lost, header, events]).toEqual([at, 8, [], HEADER, NOTES])
    }
  })

  it('is left as it is where two bytes of its frame are damaged', async () => {
    const frame = unitsOf(short)[1] ?? batch(-1)
    const bytes = Buffer.from(short)
    for (const at of [frame.start + 20, frame.commit - 6]) bytes[at] = (bytes[at] ?? 0) ^ 1
    const refusal = { code: 'CORRUPT', sessionId: 'short', offset: frame.start }
    await expect(salvagedOf(bytes)).rejects.toMatchObject(refusal)
    expect(await readLog(root, 'short')).toEqual(bytes)
  })

  it('loses nothing to a flipped bit in the header and one in the record of the batch', async () => {
    const [header, frame] = unitsOf(short)
    for (const inHeader of [header?.commit ?? 0, 0].flatMap((end) => [end - 30, end + 36]).filter((at) => at >= 0)) {
      for (const inRecord of [3, 8, 16, 24, 28, 32, 36, 39, 43]) {
        const bytes = Buffer.from(short)
        for (const at of [inHeader, (frame?.commit ?? 0) + inRecord]) bytes[at] = (bytes[at] ?? 0) ^ 4
        const [done, found, events] = await salvagedOf(bytes)
        expect([inHeader, inRecord, done.kept, done.lost, found, events]).toEqual([
          inHeader,
          inRecord,
          8,
          [],
          HEADER,
          NOTES,
        ])
      }
    }
  })

  it('says which fields of a header that nothing proves are kept, and which are lost', async () => {
    const bytes = Buffer.from(short)
    bytes[bytes.indexOf('xxx')] = 0x79
    bytes.write('"seedLengte"', bytes.indexOf('"seedLength"'))
    const [done, header, events] = await salvagedOf(bytes)
    const { seedLength: _, ...rest } = HEADER
    expect([done.kept, header, events]).toEqual([8, { ...rest, labels: { a: `y${'x'.repeat(49)}` } }, NOTES])
    expect(done.lost.map(({ message }) => message)).toEqual([
      expect.stringMatching(/could not be proven: messageFormat, cwd, parent, labels$/),
      expect.stringMatching(/cannot be told: seedLength, origin$/),
    ])
  })
})

it('a frame whose record is damaged is taken where the search begins anew', async () => {
  const large = Array.from({ length: 40 }, (_, seq) => ({
    seq,
    time: SAMPLE_TIME + seq,
    type: 'acme/note',
    data: randomBytes(48 * 1024).toString('base64'),
    ignorable: true as const,
  }))
  await storage.delete('s')
  await store(
    storage,
    's',
    large.map((event) => [event]),
  )
  const log = await readLog(root, 's')
  expect(log.length).toBeGreaterThan(1024 * 1024)
  const places = unitsOf(log)
  const window = places[0]?.end ?? 0
  const index = places.findIndex(({ end }) => end > window + 1024 * 1024)
  // With the next one damaged as well, only the unit before proves it, which another window ended with.
  for (const unit of [places[index], places[index + 1]]) log.writeUInt8(0, (unit?.commit ?? 0) + 20)
  expect(await repaired(log)).toMatchObject({ kept: 40, lost: [] })
})

it('a log without damage is left as it is', async () => {
  expect(await repaired(whole)).toMatchObject({ kept: 24, lost: [] })
  expect(await readLog(root, 's')).toEqual(whole)
})

it('a log of which nothing can be told is left as it is', async () => {
  const bytes = Buffer.from(Uint8Array.from({ length: 4000 }, (_, index) => (index * 7919) & 255))
  await writeLog(root, 's', bytes)
  await expect(storage.repair?.('s', { dryRun: false })).rejects.toMatchObject({ code: 'CORRUPT' })
  expect(await readLog(root, 's')).toEqual(bytes)
  expect(logPath(root, 's')).toBe(join(root, 's', 'session.jsonl.zst'))
})
