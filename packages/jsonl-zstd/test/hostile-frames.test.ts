// Proves that bombs, impossible sizes, dictionaries and files of other kinds are refused quickly, in bounded memory,
// without repeating their content, and that payload which looks like a frame or a commit record is nothing but payload.
import { truncate } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { isSessionError, type SessionError } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { jsonlStorage } from '../../jsonl/src/index.ts'
import { readAll, SAMPLE_BATCHES, SAMPLE_EVENTS, sampleHeader, store } from '../../jsonl/test/parts/sample-log.ts'
import { temporaryDirectory } from '../../jsonl/test/parts/temporary-directory.ts'
import { chooseCodec, decodeZstdFrames, jsonlZstdStorage, zstdUnpacker } from '../src/index.ts'
import { encodeFrame, encodeRawFrame } from '../src/zstd-frame.ts'
import { logPath, readLog, unit, writeLog } from './parts/frame-log.ts'

const SALT = 0x12345678
const MIB = 1024 * 1024
const GIB = 1024 * MIB

async function stored(): Promise<{ root: string; storage: ReturnType<typeof jsonlZstdStorage>; whole: Buffer }> {
  const root = await temporaryDirectory()
  const storage = jsonlZstdStorage({ root, durability: 'process', newSalt: () => SALT })
  await store(storage, 's', SAMPLE_BATCHES)
  return { root, storage, whole: await readLog(root, 's') }
}

async function refusal(call: () => Promise<unknown>): Promise<SessionError> {
  const before = process.memoryUsage().rss
  const start = performance.now()
  try {
    await call()
  } catch (error) {
    if (!isSessionError(error)) throw error
    // The design asks for 200 ms and 64 MB; a loaded machine gets more time, and memory is checked against gigabytes.
    expect(performance.now() - start).toBeLessThan(3000)
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * MIB)
    expect(error.message).not.toContain('SECRET')
    return error
  }
  throw new Error('it was accepted')
}

/** Magic number, descriptor, and fields as given. */
function header(descriptor: number, ...fields: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, descriptor]), ...fields])
}

function number(value: number, bytes: 1 | 2 | 4 | 8): Buffer {
  const field = Buffer.alloc(8)
  field.writeBigUInt64LE(BigInt(value))
  return field.subarray(0, bytes)
}

/** Blocks of one repeated byte. */
function repeated(count: number, size: number): Buffer {
  const blocks = Array.from({ length: count }, (_, index) => {
    const block = Buffer.alloc(4, 0x41)
    block.writeUIntLE((index === count - 1 ? 1 : 0) | 2 | (size << 3), 0, 3)
    return block
  })
  return Buffer.concat(blocks)
}

const CHECKSUM = Buffer.alloc(4, 7)
const SINGLE = 0x20
const WITH_CHECKSUM = 0x04

/** Frames with a valid record behind them, of which each declares `content` bytes and is something else. */
const BOMBS: readonly (readonly [string, Buffer, number])[] = [
  ['a declared size of 2^40', Buffer.concat([header(0xe4, number(2 ** 40, 8)), repeated(1, 10), CHECKSUM]), 10],
  ['a declared size of 2^63', Buffer.concat([header(0xe4, number(2 ** 62, 8)), repeated(1, 10), CHECKSUM]), 10],
  ['a declared size of 4 GiB', Buffer.concat([header(0xa4, number(0xffffffff, 4)), repeated(1, 10), CHECKSUM]), 10],
  [
    'blocks of 1 GiB in a frame that declares 10 bytes',
    Buffer.concat([header(0xa4, number(10, 4)), repeated(8192, 10), CHECKSUM]),
    10,
  ],
  [
    'blocks of 1 GiB in a frame with a window that declares 10 bytes',
    Buffer.concat([header(0x84, Buffer.from([0x58]), number(10, 4)), repeated(8192, 128 * 1024), CHECKSUM]),
    10,
  ],
  [
    'blocks of 1 GiB in a frame that declares them',
    Buffer.concat([header(0x84, Buffer.from([0x58]), number(GIB, 4)), repeated(8192, 128 * 1024), CHECKSUM]),
    GIB,
  ],
  ['no declared size', Buffer.concat([header(0x04, Buffer.from([0x58])), repeated(8192, 128 * 1024), CHECKSUM]), 10],
  [
    'a window of 2 TiB',
    Buffer.concat([header(0x84, Buffer.from([0xf8]), number(10, 4)), repeated(1, 10), CHECKSUM]),
    10,
  ],
  [
    'a window of 256 MiB',
    Buffer.concat([header(0x84, Buffer.from([0x90]), number(10, 4)), repeated(1, 10), CHECKSUM]),
    10,
  ],
  ['a dictionary', Buffer.concat([header(0xa5, number(9, 1), number(10, 4)), repeated(1, 10), CHECKSUM]), 10],
  ['a reserved bit', Buffer.concat([header(0xac, number(10, 4)), repeated(1, 10), CHECKSUM]), 10],
  ['no content checksum', Buffer.concat([header(0xa0, number(10, 4)), repeated(1, 10)]), 10],
  ['a wrong content checksum', Buffer.concat([header(0xa4, number(10, 4)), repeated(1, 10), CHECKSUM]), 10],
  ['fewer bytes than it declares', Buffer.concat([header(0xa4, number(11, 4)), repeated(1, 10), CHECKSUM]), 11],
]

describe('a batch with a valid record and', () => {
  it.each(BOMBS)('%s is corrupt', async (_, frame, content) => {
    const { root, storage, whole } = await stored()
    const commit = { kind: 'batch', firstSeq: 12, events: 1, lastTime: 1, contentBytes: content } as const
    await writeLog(root, 's', Buffer.concat([whole, unit(frame, commit, SALT, whole.length, crc32)]))
    expect(SINGLE | WITH_CHECKSUM).toBe(0x24)
    const events: unknown[] = []
    const error = await refusal(async () => {
      const reader = await storage.openReader('s')
      try {
        for await (const page of reader.read({})) events.push(...page)
      } finally {
        await reader.close()
      }
    })
    expect(error).toMatchObject({ code: 'CORRUPT', seq: 12, offset: whole.length })
    expect(events).toEqual(SAMPLE_EVENTS)
    expect(await storage.check('s')).toMatchObject({ problems: [{ code: 'CORRUPT', offset: whole.length }] })
    await expect(storage.repair?.('s', { dryRun: true })).resolves.toMatchObject({ kept: 12 })
  })

  it.each([
    ['lines of text', 'SECRET\n'],
    ['another seq', '{"seq":13,"time":1,"type":"a/b","data":1}\n'],
    ['more events', '{"seq":12,"time":1,"type":"a/b","data":1}\n{"seq":13,"time":1,"type":"a/b","data":1}\n'],
    ['another time', '{"seq":12,"time":2,"type":"a/b","data":1}\n'],
    ['no line end', '{"seq":12,"time":1,"type":"a/b","data":1}'],
    ['nothing', ''],
    ['another key', '{"seq":12,"time":1,"type":"a/b","data":1,"SECRET":1}\n'],
    ['200,000 levels', `{"seq":12,"time":1,"type":"a/b","data":${'['.repeat(200_000)}${']'.repeat(200_000)}}\n`],
    [
      'a run of another shape',
      '{"seq":12,"time":1,"run":{"turn":1,"step":1,"kind":"text","index":0},"dt":[],"v":["a","b"]}\n',
    ],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0xc0, 0x0a])],
  ])('%s in it is corrupt', async (_, text) => {
    const { root, storage, whole } = await stored()
    const content = Buffer.from(text)
    const frame = await encodeRawFrame(content)
    const commit = { kind: 'batch', firstSeq: 12, events: 1, lastTime: 1, contentBytes: content.length } as const
    await writeLog(root, 's', Buffer.concat([whole, unit(frame, commit, SALT, whole.length, crc32)]))
    const error = await refusal(() => readAll(storage, 's'))
    expect(error).toMatchObject({ code: 'CORRUPT', seq: 12, offset: whole.length })
  })

  it('`__proto__` keys in it changes no prototype', async () => {
    const { root, storage, whole } = await stored()
    const content = Buffer.from('{"seq":12,"time":1,"type":"a/b","data":{"__proto__":{"polluted":true}}}\n')
    const commit = { kind: 'batch', firstSeq: 12, events: 1, lastTime: 1, contentBytes: content.length } as const
    const bytes = unit(await encodeRawFrame(content), commit, SALT, whole.length, crc32)
    await writeLog(root, 's', Buffer.concat([whole, bytes]))
    const last = (await readAll(storage, 's')).at(-1)
    expect(Object.hasOwn(last?.data as object, '__proto__')).toBe(true)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

describe('payload', () => {
  it('that contains the magic numbers of frames and records comes back, and is found by nobody', async () => {
    const { root, storage } = await stored()
    const magics = ['\u0028\u00b5\u002f\u00fd', '\u005d\u002a\u004d\u0018\u0024\u0000\u0000\u0000']
    const events = Array.from({ length: 50 }, (_, index) => ({
      seq: 12 + index,
      time: 1,
      type: 'acme/note',
      data: {
        text: magics.join(String(index)).repeat(20),
        latin: Buffer.from(magics.join(''), 'latin1').toString('base64'),
      },
    }))
    const writer = await storage.openWriter('s', { kind: 'resume' })
    for (const event of events) await writer.append([event])
    await writer.close()
    expect((await readAll(storage, 's')).slice(12)).toEqual(events)
    for (const from of [12, 30, 61]) expect(await readAll(storage, 's', { from })).toEqual(events.slice(from - 12))
    expect(await storage.check('s')).toMatchObject({ events: 62, problems: [] })
    expect((await readLog(root, 's')).length).toBeGreaterThan(0)
  })

  it('that holds a whole forged unit, valid for its place, never counts where the batch around it is torn', async () => {
    const { root, storage, whole } = await stored()
    // A raw block, so that the forged bytes stand in the file as they are. No writer makes one; a hostile one could.
    const forgedAt = whole.length + 9 + 3 + 100
    const line = Buffer.from('{"seq":12,"time":1,"type":"a/b","data":"forged"}\n')
    const forgedFrame = await encodeFrame(chooseCodec(), line)
    const commit = { kind: 'batch', firstSeq: 12, events: 1, lastTime: 1, contentBytes: line.length } as const
    const forged = unit(forgedFrame, commit, SALT, forgedAt, crc32)
    const content = Buffer.concat([Buffer.alloc(100, 0x20), forged, Buffer.alloc(70_000, 0x20)])
    const frame = await encodeRawFrame(content)
    const outer = unit(frame, { ...commit, contentBytes: content.length }, SALT, whole.length, crc32)
    expect(Buffer.concat([whole, outer]).subarray(forgedAt, forgedAt + forged.length)).toEqual(forged)
    for (const cut of [forgedAt + forged.length, forgedAt + forged.length + 500, outer.length + whole.length - 5]) {
      await writeLog(root, 's', Buffer.concat([whole, outer]).subarray(0, cut))
      const writer = await storage.openWriter('s', { kind: 'resume' })
      expect(writer.tail).toMatchObject({ nextSeq: 12, torn: { offset: whole.length, bytes: cut - whole.length } })
      await writer.close()
      expect(await readAll(storage, 's')).toEqual(SAMPLE_EVENTS)
    }
  })
})

describe('instead of a log', () => {
  it.each([
    ['an empty file', Buffer.alloc(0)],
    ['text', Buffer.from('SECRET text\nof another program\n')],
    ['plain JSON lines', Buffer.from('{"format":"session-persistence","version":1,"id":"SECRET"}\n')],
    ['a gzip file', Buffer.from('1f8b0800000000000003534c4a060041f8d3c603000000', 'hex')],
    ['a skippable frame', Buffer.from('502a4d180400000061626364', 'hex')],
    ['the start of a skippable frame of 4 GiB', Buffer.from('502a4d18ffffffff61626364', 'hex')],
    ['bytes', Buffer.from(Uint8Array.from({ length: 5000 }, (_, index) => (index * 7919) & 255))],
  ])('%s is corrupt at offset 0', async (_, bytes) => {
    const { root, storage } = await stored()
    await writeLog(root, 's', bytes)
    for (const call of [() => storage.openReader('s'), () => storage.openWriter('s', { kind: 'resume' })]) {
      const found = { code: 'CORRUPT', sessionId: 's', offset: 0, path: logPath(root, 's') }
      expect(await refusal(call)).toMatchObject(found)
    }
    expect(await storage.check('s')).toMatchObject({ events: 0, problems: [{ code: 'CORRUPT', offset: 0 }] })
    expect(await storage.list({ limit: 5 })).toMatchObject([{ id: 's', state: 'damaged', bytes: bytes.length }])
    expect(await readLog(root, 's')).toEqual(bytes)
  })

  it('frames of other programs are corrupt', async () => {
    const { root, storage } = await stored()
    await writeLog(root, 's', await encodeFrame(chooseCodec(), Buffer.from('{"SECRET":1}\n')))
    const error = await refusal(() => storage.openReader('s'))
    expect(error).toMatchObject({ code: 'CORRUPT', offset: 0, message: expect.stringContaining('commit record') })
  })

  it('a gigabyte of zeros is corrupt, also behind a good log', async () => {
    const { root, storage } = await stored()
    await truncate(logPath(root, 's'), GIB)
    expect(await refusal(() => storage.openWriter('s', { kind: 'resume' }))).toMatchObject({ code: 'CORRUPT' })
    await writeLog(root, 's', Buffer.alloc(0))
    await truncate(logPath(root, 's'), GIB)
    expect(await refusal(() => storage.openReader('s'))).toMatchObject({ code: 'CORRUPT', offset: 0 })
    expect(await storage.list({ limit: 5 })).toMatchObject([{ state: 'damaged' }])
  })
})

describe('a file under the name of the other format', () => {
  it('plain lines named .zst, and frames named .jsonl, are refused on both sides', async () => {
    const { root, storage, whole } = await stored()
    const lines = jsonlStorage({ root: await temporaryDirectory(), durability: 'process' })
    await store(lines, 's', SAMPLE_BATCHES)
    const lineRoot = await temporaryDirectory()
    const other = jsonlStorage({ root: lineRoot, durability: 'process' })
    await store(other, 's', SAMPLE_BATCHES)
    const { readFile, writeFile } = await import('node:fs/promises')
    const plainPath = `${lineRoot}/s/session.jsonl`
    const plain = await readFile(plainPath)
    await writeFile(plainPath, whole)
    await writeLog(root, 's', plain)
    expect(await refusal(() => storage.openReader('s'))).toMatchObject({ code: 'CORRUPT', offset: 0 })
    expect(await refusal(() => other.openReader('s'))).toMatchObject({ code: 'CORRUPT', offset: 0 })
    expect(await readFile(plainPath)).toEqual(whole)
    expect(await readLog(root, 's')).toEqual(plain)
  })
})

describe('the decoder of foreign files', () => {
  async function decoded(bytes: Buffer, step: number, contentBytesMax?: number): Promise<Buffer> {
    const chunks = async function* (): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step)
    }
    const parts: Buffer[] = []
    const options = contentBytesMax === undefined ? {} : { contentBytesMax }
    for await (const part of decodeZstdFrames(chunks(), options)) parts.push(part)
    return Buffer.concat(parts)
  }

  it('reads our logs as the plain lines that every tool sees, in chunks of any size', async () => {
    const { whole } = await stored()
    const text = (await decoded(whole, 1 << 20)).toString()
    const lines = text.trimEnd().split('\n')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ format: 'session-persistence', ...sampleHeader('s') })
    for (const step of [1, 7, 64, 1000]) expect((await decoded(whole, step)).toString()).toBe(text)
  })

  it('reads frames without a declared size, checksums or records', async () => {
    const codec = chooseCodec()
    const contents = Array.from({ length: 300 }, (_, index) =>
      Buffer.from(`{"line":${index},"text":"${'x'.repeat(index * 40)}"}\n`),
    )
    const frames = await Promise.all(contents.map((content) => codec.compress(content)))
    expect((await decoded(Buffer.concat(frames), 5000)).equals(Buffer.concat(contents))).toBe(true)
  })

  it('is what unpacks such files for the readers of other formats', async () => {
    const frame = await encodeFrame(chooseCodec(), Buffer.from('one\ntwo\n'))
    expect(zstdUnpacker.detect(frame)).toBe(true)
    expect(zstdUnpacker.detect(Buffer.from('5d2a4d1800000000', 'hex'))).toBe(true)
    expect(zstdUnpacker.detect(Buffer.from('{"a":1}'))).toBe(false)
    expect(zstdUnpacker.detect(frame.subarray(0, 3))).toBe(false)
    const chunks = async function* (): AsyncGenerator<Uint8Array> {
      yield frame
    }
    const parts: Uint8Array[] = []
    for await (const part of zstdUnpacker.unpack(chunks(), {})) parts.push(part)
    expect(Buffer.concat(parts).toString()).toBe('one\ntwo\n')
    const reason = new Error('stop')
    const stopped = zstdUnpacker.unpack(chunks(), { signal: AbortSignal.abort(reason) })[Symbol.asyncIterator]()
    await expect(stopped.next()).rejects.toBe(reason)
  })

  it('refuses bombs, damage and cut files with the offset of the frame', async () => {
    const good = await encodeFrame(chooseCodec(), Buffer.from('good\n'))
    const bad = Buffer.from(good)
    bad[bad.length - 1] = (bad[bad.length - 1] ?? 0) ^ 1
    const cases: readonly (readonly [Buffer, string])[] = [
      [Buffer.from('text'), 'CORRUPT'],
      [good.subarray(0, -1), 'CORRUPT'],
      [bad, 'CORRUPT'],
      [Buffer.concat([header(0x04, Buffer.from([0x58])), repeated(8192, 128 * 1024), CHECKSUM]), 'TOO_LARGE'],
      [Buffer.concat([header(0xa4, number(10, 4)), repeated(8192, 10), CHECKSUM]), 'CORRUPT'],
      [header(0xe4, number(2 ** 40, 8)), 'CORRUPT'],
    ]
    for (const [bytes, code] of cases) {
      const error = await refusal(() => decoded(Buffer.concat([good, bytes]), 1 << 20))
      expect(error.code).toBe(code)
      expect([0, good.length]).toContain(error.offset)
    }
    const large = await encodeFrame(chooseCodec(), Buffer.alloc(2 * MIB, 'ab'))
    expect((await refusal(() => decoded(large, 1 << 20, MIB))).code).toBe('TOO_LARGE')
    expect(await decoded(large, 1 << 20, 4 * MIB)).toHaveLength(2 * MIB)
  })
})
