// Proves that damage other than a cut is told apart: torn only where a power cut explains it, corrupt with offset and
// seq everywhere else, with everything before it readable and nothing written.
import { stat } from 'node:fs/promises'
import { type AnySessionEvent, isSessionError, type SessionError } from '@session-persistence/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { batchesOf } from '../../jsonl/test/parts/damaged-range.ts'
import { store } from '../../jsonl/test/parts/sample-log.ts'
import { temporaryDirectory } from '../../jsonl/test/parts/temporary-directory.ts'
import { jsonlZstdStorage } from '../src/index.ts'
import { logPath, readLog, type UnitPlace, unitsOf, writeLog } from './parts/frame-log.ts'

const SECTOR = 512
/** They hardly compress: each batch spans several sectors. */
const BATCHES = batchesOf(500)
const EVENTS = BATCHES.flat()

let root = ''
let storage: ReturnType<typeof jsonlZstdStorage>
let whole: Buffer
/** The first is the header; batch n is unit n + 1. */
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

function bytesOf(index: number): Buffer {
  return whole.subarray(batch(index).start, batch(index).end)
}

interface Outcome {
  readonly events: number
  readonly error: SessionError | undefined
}

/** What a reader of everything gets; what it gets must be right, and nothing may be written. */
async function outcome(bytes: Buffer): Promise<Outcome> {
  await writeLog(root, 's', bytes)
  const before = await stat(logPath(root, 's'), { bigint: true })
  const given: AnySessionEvent[] = []
  let error: SessionError | undefined
  try {
    const reader = await storage.openReader('s')
    try {
      for await (const page of reader.read({})) given.push(...(page as AnySessionEvent[]))
    } finally {
      await reader.close()
    }
  } catch (thrown) {
    if (!isSessionError(thrown)) throw thrown
    error = thrown
  }
  expect(given).toEqual(EVENTS.slice(0, given.length))
  const check = await storage.check('s')
  expect(check.problems.length > 0).toBe(error !== undefined)
  const after = await stat(logPath(root, 's'), { bigint: true })
  expect([after.mtimeNs, after.size]).toEqual([before.mtimeNs, before.size])
  return { events: given.length, error }
}

async function verdict(bytes: Buffer): Promise<'clean' | 'torn' | 'corrupt'> {
  await writeLog(root, 's', bytes)
  try {
    const writer = await storage.openWriter('s', { kind: 'resume' })
    const { torn } = writer.tail
    await writer.close()
    return torn === undefined ? 'clean' : 'torn'
  } catch (error) {
    if (!isSessionError(error, 'CORRUPT')) throw error
    expect(error.offset).toBeTypeOf('number')
    return 'corrupt'
  }
}

function zeroed(from: number, to: number): Buffer {
  return Buffer.from(whole).fill(0, from, Math.min(to, whole.length))
}

describe('NULs', () => {
  it('over any sectors of the last batch are torn', async () => {
    const { start } = batch(9)
    for (let sector = Math.floor(start / SECTOR); sector * SECTOR < whole.length; sector++) {
      const bytes = zeroed(Math.max(start, sector * SECTOR), (sector + 1) * SECTOR)
      expect(await verdict(bytes)).toBe('torn')
      expect(await outcome(bytes)).toEqual({ events: 45, error: undefined })
    }
  })

  it('behind the last batch, or in place of its end or its record, are torn', async () => {
    expect(await verdict(Buffer.concat([whole, Buffer.alloc(100_000)]))).toBe('torn')
    expect(await outcome(Buffer.concat([whole, Buffer.alloc(100_000)]))).toEqual({ events: 50, error: undefined })
    expect(await verdict(zeroed(batch(9).commit, whole.length))).toBe('torn')
    expect(await verdict(zeroed(batch(9).commit - 7, whole.length))).toBe('torn')
    expect(await outcome(zeroed(batch(9).start, whole.length))).toEqual({ events: 45, error: undefined })
  })

  it('inside the last batch that fill no sector are corrupt', async () => {
    const at = batch(9).start + 20
    expect(await verdict(zeroed(at, at + 10))).toBe('corrupt')
    const { events, error } = await outcome(zeroed(at, at + 10))
    expect(events).toBe(45)
    expect(error).toMatchObject({ code: 'CORRUPT', seq: 45, offset: batch(9).start, path: logPath(root, 's') })
  })

  it('in an earlier batch are corrupt wherever they are', async () => {
    for (const [from, to, index] of [
      [batch(3).start, batch(3).end, 3],
      [batch(4).start + 20, batch(4).start + 24, 4],
      [batch(5).commit, batch(5).end, 5],
      [batch(8).start, batch(8).end, 8],
      [batch(8).commit, batch(8).end, 8],
    ] as const) {
      const { events, error } = await outcome(zeroed(from, to))
      expect({ events, seq: error?.seq, offset: error?.offset }).toEqual({
        events: 5 * index,
        seq: 5 * index,
        offset: batch(index).start,
      })
    }
    // What a writer reads before it opens is the last batch and the record before it.
    expect(await verdict(zeroed(batch(8).commit, batch(8).end))).toBe('corrupt')
  })
})

describe('units', () => {
  it('left out, swapped or repeated are corrupt where the seq stops being the next', async () => {
    const cases = [
      { bytes: Buffer.concat([whole.subarray(0, batch(3).start), whole.subarray(batch(4).start)]), seq: 15, found: 20 },
      {
        bytes: Buffer.concat([
          whole.subarray(0, batch(3).start),
          bytesOf(4),
          bytesOf(3),
          whole.subarray(batch(5).start),
        ]),
        seq: 15,
        found: 20,
        // Behind the two everything is in its place, and a writer looks at the end only.
        writer: 'clean',
      },
      { bytes: Buffer.concat([whole.subarray(0, batch(5).start), whole.subarray(batch(4).start)]), seq: 25, found: 20 },
      { bytes: Buffer.concat([whole, bytesOf(9)]), seq: 50, found: 45 },
      { bytes: Buffer.concat([whole, whole.subarray(batch(7).start)]), seq: 50, found: 35 },
    ]
    for (const { bytes, seq, found, writer = 'corrupt' } of cases) {
      const { events, error } = await outcome(bytes)
      expect(events).toBe(seq)
      expect(error).toMatchObject({ code: 'CORRUPT', seq, found, expected: seq })
      expect(await verdict(bytes)).toBe(writer)
    }
  })

  it('of another session are corrupt, though they look the same', async () => {
    await store(storage, 'other', BATCHES)
    const other = await readLog(root, 'other')
    const foreign = other.subarray(unitsOf(other)[1]?.start)
    const bytes = Buffer.concat([whole.subarray(0, batch(0).start), foreign])
    expect(await outcome(bytes)).toMatchObject({
      events: 0,
      error: { code: 'CORRUPT', seq: 0, offset: batch(0).start },
    })
    await expect(outcome(other)).resolves.toMatchObject({ events: 0, error: { code: 'CORRUPT', offset: 0 } })
  })

  it('without their record are corrupt in the middle and torn at the end', async () => {
    const middle = Buffer.concat([whole.subarray(0, batch(5).commit), whole.subarray(batch(5).end)])
    expect(await outcome(middle)).toMatchObject({ events: 25, error: { seq: 25, offset: batch(5).start } })
    const end = whole.subarray(0, batch(9).commit)
    expect(await verdict(end)).toBe('torn')
    expect(await outcome(end)).toEqual({ events: 45, error: undefined })
  })
})

describe('what stands behind the last batch', () => {
  it.each([
    ['text', Buffer.from('{"seq":50}\n')],
    ['a byte', Buffer.from('x')],
    ['random bytes', Buffer.from(Uint8Array.from({ length: 3000 }, (_, index) => ((index * 7919) ^ 0x5a) | 1))],
    ['a record of nothing', Buffer.from('5d2a4d182400000001', 'hex')],
  ])('%s is corrupt', async (_, junk) => {
    expect(await verdict(Buffer.concat([whole, junk]))).toBe('corrupt')
    const { events, error } = await outcome(Buffer.concat([whole, junk]))
    expect(events).toBe(50)
    expect(error).toMatchObject({ code: 'CORRUPT', seq: 50, offset: whole.length })
  })

  it('a whole frame without a record is torn; with one that is damaged it is corrupt', async () => {
    const frame = whole.subarray(batch(2).start, batch(2).commit)
    expect(await verdict(Buffer.concat([whole, frame]))).toBe('torn')
    expect(await verdict(Buffer.concat([whole, frame, Buffer.alloc(44, 1)]))).toBe('corrupt')
    expect(await verdict(Buffer.concat([whole, frame, Buffer.from('x')]))).toBe('corrupt')
  })

  it('a hole with a sound batch behind it is corrupt: holes are in the last batch only', async () => {
    const sector = Math.ceil(batch(8).start / SECTOR)
    const holed = zeroed(sector * SECTOR, (sector + 1) * SECTOR)
    expect(await outcome(holed)).toMatchObject({ events: 40, error: { seq: 40, offset: batch(8).start } })
  })
})

it('a file of the other format under this name says so', async () => {
  const text = Buffer.from('{"format":"session-persistence","version":1,"id":"s"}\n')
  const { error } = await outcome(text)
  expect(error).toMatchObject({ code: 'CORRUPT', offset: 0, message: expect.stringContaining('plain text') })
  expect(await storage.list({ limit: 3 })).toMatchObject([{ id: 's', state: 'damaged' }])
})

it('the bytes of a settled log are those that were found', async () => {
  const writer = await storage.openWriter('s', { kind: 'resume' })
  await writer.settle()
  await writer.close()
  expect(await readLog(root, 's')).toEqual(whole)
})
