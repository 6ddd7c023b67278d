// Proves that damage other than a cut is told apart: torn only where a power cut explains it, corrupt with offset and
// seq everywhere else, with everything before it readable and nothing written.
import { stat } from 'node:fs/promises'
import { type AnySessionEvent, isSessionError, type SessionError } from '@session-persistence/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { logPath, readAll, readLog, SAMPLE_EVENTS, SAMPLE_TIME, store, writeLog } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const SECTOR = 512
/** Ten batches of five events of about 300 bytes: each batch spans several sectors. */
const BATCHES: readonly (readonly AnySessionEvent[])[] = Array.from({ length: 10 }, (_, batch) =>
  Array.from({ length: 5 }, (_, index) => {
    const seq = 5 * batch + index
    return { seq, time: SAMPLE_TIME + seq, type: 'acme/note', data: { text: 'x'.repeat(200) }, ignorable: true }
  }),
)
const EVENTS = BATCHES.flat()

let root = ''
let storage: ReturnType<typeof jsonlStorage>
let whole: Buffer
/** Offset of every line; the first is the header. */
let lines: readonly number[]

beforeEach(async () => {
  root = await temporaryDirectory()
  storage = jsonlStorage({ root, durability: 'process' })
  await store(storage, 's', BATCHES)
  whole = await readLog(root, 's')
  const starts = [0]
  for (let at = whole.indexOf(10); at !== -1 && at + 1 < whole.length; at = whole.indexOf(10, at + 1))
    starts.push(at + 1)
  lines = starts
})

/** Offset of the line of an event. */
function lineOf(seq: number): number {
  return lines[seq + 1] ?? whole.length
}

function line(seq: number): Buffer {
  return whole.subarray(lineOf(seq), lineOf(seq + 1))
}

interface Outcome {
  readonly events: number
  readonly error: SessionError | undefined
}

/** What a reader of everything gets; what it gets must be right. */
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
    const start = lineOf(45)
    for (let sector = Math.floor(start / SECTOR); sector * SECTOR < whole.length; sector++) {
      const bytes = zeroed(Math.max(start, sector * SECTOR), (sector + 1) * SECTOR)
      expect(await verdict(bytes)).toBe('torn')
      expect(await outcome(bytes)).toEqual({ events: 45, error: undefined })
    }
  })

  it('behind the last batch, or in place of its end, are torn', async () => {
    expect(await verdict(Buffer.concat([whole, Buffer.alloc(100_000)]))).toBe('torn')
    expect(await outcome(Buffer.concat([whole, Buffer.alloc(100_000)]))).toEqual({ events: 50, error: undefined })
    expect(await verdict(zeroed(lineOf(49) + 7, whole.length))).toBe('torn')
    expect(await outcome(zeroed(lineOf(46), whole.length))).toEqual({ events: 45, error: undefined })
  })

  it('inside the last batch that fill no sector are corrupt', async () => {
    expect(await verdict(zeroed(lineOf(47) + 50, lineOf(47) + 60))).toBe('corrupt')
    const { events, error } = await outcome(zeroed(lineOf(47) + 50, lineOf(47) + 60))
    expect(events).toBe(45)
    expect(error).toMatchObject({ code: 'CORRUPT', seq: 47, offset: lineOf(47), path: logPath(root, 's') })
  })

  it('in an earlier batch are corrupt wherever they are', async () => {
    for (const [from, to, seq] of [
      [lineOf(12), lineOf(17), 12],
      [lineOf(20) + 3, lineOf(20) + 4, 20],
    ] as const) {
      const { events, error } = await outcome(zeroed(from, to))
      expect({ events, seq: error?.seq, offset: error?.offset }).toEqual({ events: seq, seq, offset: lineOf(seq) })
    }
    // What a writer reads before it opens is the last batch and the record before.
    expect(await verdict(zeroed(lineOf(44), lineOf(45)))).toBe('corrupt')
  })

  it('in the place of the last line end only are no damage', async () => {
    const bytes = zeroed(whole.length - 1, whole.length)
    expect(await verdict(bytes)).toBe('clean')
    expect(await outcome(bytes)).toEqual({ events: 50, error: undefined })
  })
})

describe('a damaged last batch', () => {
  it('is corrupt when its end is there and its bytes are not what was written', async () => {
    for (let at = lineOf(45); at < whole.length - 1; at += 13) {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] ?? 0) ^ 1
      expect(await verdict(bytes)).toBe('corrupt')
    }
  })

  it('is corrupt when something follows it', async () => {
    const holed = zeroed(Math.ceil(lineOf(46) / SECTOR) * SECTOR, (Math.ceil(lineOf(46) / SECTOR) + 1) * SECTOR)
    expect(await verdict(holed)).toBe('torn')
    expect(await verdict(Buffer.concat([holed, line(3)]))).toBe('corrupt')
    expect(await verdict(Buffer.concat([holed, Buffer.from('{"x":1}\n')]))).toBe('corrupt')
  })
})

describe('lines', () => {
  it('left out, swapped or repeated are corrupt where the seq stops being the next', async () => {
    const cases = [
      { bytes: Buffer.concat([whole.subarray(0, lineOf(7)), whole.subarray(lineOf(8))]), seq: 7, found: 8 },
      { bytes: Buffer.concat([whole.subarray(0, lineOf(20)), whole.subarray(lineOf(25))]), seq: 20, found: 25 },
      {
        bytes: Buffer.concat([whole.subarray(0, lineOf(7)), line(8), line(7), whole.subarray(lineOf(9))]),
        seq: 7,
        found: 8,
      },
      { bytes: Buffer.concat([whole.subarray(0, lineOf(8)), whole.subarray(lineOf(7))]), seq: 8, found: 7 },
    ]
    for (const { bytes, seq, found } of cases) {
      const { events, error } = await outcome(bytes)
      expect(events).toBe(seq)
      expect(error).toMatchObject({ code: 'CORRUPT', seq, found, expected: seq })
    }
  })

  it('repeated at the end are corrupt for a writer too', async () => {
    for (const from of [45, 40, 49]) {
      const bytes = Buffer.concat([whole, whole.subarray(lineOf(from))])
      expect(await verdict(bytes)).toBe('corrupt')
      expect(await outcome(bytes)).toMatchObject({ events: 50, error: { seq: 50, found: from } })
    }
  })

  it('of another session are corrupt, though they look the same', async () => {
    await store(storage, 'other', BATCHES)
    const other = await readLog(root, 'other')
    const offset = other.indexOf(10) + 1
    const foreign = other.subarray(offset)
    const bytes = Buffer.concat([whole.subarray(0, lineOf(0)), foreign])
    expect(await outcome(bytes)).toMatchObject({ events: 0, error: { code: 'CORRUPT', seq: 0, offset: lineOf(0) } })
    await expect(outcome(other)).resolves.toMatchObject({ events: 0, error: { code: 'CORRUPT', offset: 0 } })
  })

  it('glued together are corrupt', async () => {
    const bytes = Buffer.concat([whole.subarray(0, lineOf(8) - 1), whole.subarray(lineOf(8))])
    expect(await outcome(bytes)).toMatchObject({ events: 7, error: { seq: 7, offset: lineOf(7) } })
  })
})

describe('what other tools do to text files', () => {
  it('CR LF and a byte-order mark lose nothing and are said', async () => {
    const text = whole.toString('utf8')
    const crlf = Buffer.from(text.replaceAll('\n', '\r\n'))
    expect(await outcome(crlf)).toEqual({ events: 50, error: undefined })
    expect((await storage.check('s')).notes).toEqual([expect.stringContaining('CR LF')])
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), whole])
    expect(await outcome(marked)).toEqual({ events: 50, error: undefined })
    expect((await storage.check('s')).notes).toEqual([expect.stringContaining('byte-order mark')])
    await writeLog(root, 's', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), crlf]))
    const writer = await storage.openWriter('s', { kind: 'resume' })
    await writer.append([{ ...EVENTS[0], seq: 50, time: 1, type: 'acme/note', data: null }])
    await writer.close()
    expect(await readAll(storage, 's', { to: 49 })).toEqual(EVENTS)
    expect(await storage.check('s')).toMatchObject({ events: 51, problems: [] })
  })

  it('a final line end that an editor took is put back by the next writer', async () => {
    const bytes = whole.subarray(0, -1)
    expect(await outcome(bytes)).toEqual({ events: 50, error: undefined })
    expect(await verdict(bytes)).toBe('clean')
    const writer = await storage.openWriter('s', { kind: 'resume' })
    await writer.settle()
    await writer.close()
    expect(await readLog(root, 's')).toEqual(whole)
  })

  it('a blank line is corrupt', async () => {
    const bytes = Buffer.concat([whole.subarray(0, lineOf(8)), Buffer.from('\n'), whole.subarray(lineOf(8))])
    expect(await outcome(bytes)).toMatchObject({ events: 8, error: { seq: 8, offset: lineOf(8) } })
  })
})

it('the bytes of a settled log are those that were found', async () => {
  const before = await readLog(root, 's')
  const writer = await storage.openWriter('s', { kind: 'resume' })
  await writer.settle()
  await writer.close()
  expect(await readLog(root, 's')).toEqual(before)
  expect(SAMPLE_EVENTS.length).toBeGreaterThan(0)
})
