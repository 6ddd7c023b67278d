// Proves that foreign, huge and malicious files are refused quickly, in bounded memory, without repeating their content.
import { open, truncate, writeFile } from 'node:fs/promises'
import { isSessionError, LIMITS, type SessionError, type StorageReader } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { crc32Of, viewOf } from '../src/crc.ts'
import { hex } from '../src/header-line.ts'
import { jsonlStorage } from '../src/index.ts'
import { logPath, readAll, readLog, SAMPLE_BATCHES, SAMPLE_EVENTS, store, writeLog } from './parts/sample-log.ts'
import { SCALE } from './parts/scale.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const SALT = 0x12345678

async function stored(): Promise<{ root: string; storage: ReturnType<typeof jsonlStorage> }> {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root, durability: 'process', newSalt: () => SALT })
  await store(storage, 's', SAMPLE_BATCHES)
  return { root, storage }
}

/** A line with the right checksum around any record, its closing brace left out. */
function sealed(record: string | Buffer): Buffer {
  const body = Buffer.from(record)
  return Buffer.concat([body, Buffer.from(`,"crc":"${hex(crc32Of(body, viewOf(body), 0, body.length, SALT))}"}\n`)])
}

async function refusal(call: () => Promise<unknown>): Promise<SessionError> {
  const before = process.memoryUsage().rss
  const start = performance.now()
  try {
    await call()
  } catch (error) {
    if (!isSessionError(error)) throw error
    // The design asks for 200 ms; a loaded machine gets some more. Memory is checked where it could be gigabytes.
    expect(performance.now() - start).toBeLessThan(3000)
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024)
    expect(error.message).not.toContain('SECRET')
    return error
  }
  throw new Error('it was accepted')
}

async function drain(reader: StorageReader): Promise<number> {
  let count = 0
  try {
    for await (const page of reader.read({})) count += page.length
  } finally {
    await reader.close()
  }
  return count
}

describe('instead of a log', () => {
  it.each([
    ['an empty file', Buffer.alloc(0)],
    ['text', Buffer.from('SECRET text\nof another program\n')],
    ['JSON lines of another program', Buffer.from('{"type":"session","id":"SECRET"}\n{"type":"user"}\n')],
    ['an array', Buffer.from('[]\n')],
    ['bytes', Buffer.from(Uint8Array.from({ length: 5000 }, (_, index) => (index * 7919) & 255))],
    ['a long line', Buffer.from(`{"SECRET":"${'x'.repeat(300_000)}`)],
    ['nested arrays', Buffer.from(`${'['.repeat(60_000)}\n`)],
  ])('%s is corrupt at offset 0', async (_, bytes) => {
    const { root, storage } = await stored()
    await writeLog(root, 's', bytes)
    for (const call of [
      () => storage.openReader('s'),
      () => storage.openWriter('s', { kind: 'resume' }),
      () => storage.openWriter('s', { kind: 'resume' }),
    ]) {
      expect(await refusal(call)).toMatchObject({
        code: 'CORRUPT',
        sessionId: 's',
        offset: 0,
        path: logPath(root, 's'),
      })
    }
    expect(await storage.check('s')).toMatchObject({ events: 0, problems: [{ code: 'CORRUPT', offset: 0 }] })
    expect(await storage.list({ limit: 5 })).toMatchObject([{ id: 's', state: 'damaged', bytes: bytes.length }])
    expect(await readLog(root, 's')).toEqual(bytes)
  })

  it('a gigabyte of zeros is corrupt', async () => {
    const { root, storage } = await stored()
    await writeLog(root, 's', Buffer.alloc(0))
    await truncate(logPath(root, 's'), 1 << 30)
    expect(await refusal(() => storage.openReader('s'))).toMatchObject({ code: 'CORRUPT', offset: 0 })
    expect(await refusal(() => storage.openWriter('s', { kind: 'resume' }))).toMatchObject({ code: 'CORRUPT' })
    expect(await storage.list({ limit: 5 })).toMatchObject([{ state: 'damaged' }])
  })
})

describe('behind a good log', () => {
  it('a gigabyte of zeros is corrupt: no batch is that long', async () => {
    const { root, storage } = await stored()
    await truncate(logPath(root, 's'), 1 << 30)
    expect(await refusal(() => storage.openReader('s'))).toMatchObject({ code: 'CORRUPT', sessionId: 's' })
    expect(await refusal(() => storage.openWriter('s', { kind: 'resume' }))).toMatchObject({ code: 'CORRUPT' })
  })

  it('a line longer than any record is corrupt, before it is held in memory', async () => {
    const { root, storage } = await stored()
    const file = await open(logPath(root, 's'), 'a')
    const part = Buffer.alloc(1 << 24, 'x')
    for (let length = 0; length <= 2 * LIMITS.eventBytes + 128; length += part.length) await file.write(part)
    await file.close()
    expect(await refusal(() => storage.openReader('s'))).toMatchObject({ code: 'CORRUPT' })
    const { events, problems } = await storage.check('s')
    expect(events).toBe(SAMPLE_EVENTS.length)
    expect(problems).not.toEqual([])
    const ended = await open(logPath(root, 's'), 'a')
    await ended.write('\n')
    await ended.close()
    expect(await refusal(() => storage.openReader('s'))).toMatchObject({ code: 'CORRUPT' })
  })
})

describe('a line with a right checksum', () => {
  it.each([
    ['of 200,000 levels', `{"seq":12,"time":1,"type":"a/b","data":${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    [
      'just over the depth',
      `{"seq":12,"time":1,"type":"a/b","data":${'['.repeat(LIMITS.depth + 1)}${']'.repeat(LIMITS.depth + 1)}`,
    ],
    ['with another key', '{"seq":12,"time":1,"type":"a/b","data":1,"SECRET":1'],
    ['without data', '{"seq":12,"time":1,"type":"a/b"'],
    ['with a time that is no integer', '{"seq":12,"time":1.5,"type":"a/b","data":1'],
    ['with a negative seq', '{"seq":-12,"time":1,"type":"a/b","data":1'],
    ['with the wrong seq', '{"seq":13,"time":1,"type":"a/b","data":1'],
    ['that is no JSON', '{"seq":12,"time":1,"type":"a/b","data":SECRET'],
    ['that is no object', '"SECRET'],
    ['with a batch from the future', '{"seq":12,"time":1,"type":"a/b","data":1,"batch":13'],
    [
      'that is no UTF-8',
      Buffer.concat([
        Buffer.from('{"seq":12,"time":1,"type":"a/b","data":"'),
        Buffer.from([0xff, 0xc0]),
        Buffer.from('"'),
      ]),
    ],
    [
      'with a run of the wrong shape',
      '{"seq":12,"time":1,"run":{"turn":1,"step":1,"kind":"text","index":0},"dt":[],"v":["a","b","c"]',
    ],
  ])('%s is corrupt', async (_, record) => {
    const { root, storage } = await stored()
    const whole = await readLog(root, 's')
    await writeLog(
      root,
      's',
      Buffer.concat([whole, sealed(record), sealed('{"seq":13,"time":1,"type":"a/b","data":1,"batch":12')]),
    )
    const error = await refusal(async () => drain(await storage.openReader('s')))
    expect(error).toMatchObject({ code: 'CORRUPT', seq: 12, offset: whole.length })
    expect(await refusal(() => storage.openWriter('s', { kind: 'resume' }))).toMatchObject({ code: 'CORRUPT' })
    // The same in the middle of a log, where a scan and not the search for the end meets it.
    const more = Array.from({ length: 3000 }, (_, index) =>
      sealed(`{"seq":${14 + index},"time":1,"type":"a/b","data":1,"batch":${14 + index}`),
    )
    await writeLog(
      root,
      's',
      Buffer.concat([whole, sealed(record), sealed('{"seq":13,"time":1,"type":"a/b","data":1,"batch":12'), ...more]),
    )
    const later = await refusal(async () => drain(await storage.openReader('s')))
    expect(later).toMatchObject({ code: 'CORRUPT', offset: whole.length })
  })

  it('and `__proto__` keys changes no prototype', async () => {
    const { root, storage } = await stored()
    const record = '{"seq":12,"time":1,"type":"a/b","data":{"__proto__":{"polluted":true}},"batch":12'
    await writeLog(root, 's', Buffer.concat([await readLog(root, 's'), sealed(record)]))
    const last = (await readAll(storage, 's')).at(-1)
    expect(Object.hasOwn(last?.data as object, '__proto__')).toBe(true)
    expect(Object.getPrototypeOf(last?.data)).toBe(Object.prototype)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('that hides a whole forged line in its text stays one record', async () => {
    const { root, storage } = await stored()
    const forged = sealed('{"seq":13,"time":1,"type":"a/b","data":1,"batch":13').toString()
    const event = {
      seq: 12,
      time: 1,
      type: 'acme/note',
      data: { text: `\n${forged}`, nested: JSON.parse(forged) as unknown },
    }
    const writer = await storage.openWriter('s', { kind: 'resume' })
    await writer.append([event])
    await writer.close()
    expect((await readAll(storage, 's')).slice(12)).toEqual([event])
    const whole = await readLog(root, 's')
    for (let cut = whole.length - 300; cut < whole.length; cut++) {
      await writeLog(root, 's', whole.subarray(0, cut))
      const events = await readAll(storage, 's')
      expect(events).toEqual([...SAMPLE_EVENTS, event].slice(0, events.length))
    }
  })
})

it.each([
  ['version', '2', 'UNSUPPORTED_VERSION'],
  ['version', '4294967296', 'UNSUPPORTED_VERSION'],
  ['version', '"1"', 'CORRUPT'],
  ['version', '-1', 'CORRUPT'],
  ['createdAt', '"yesterday"', 'CORRUPT'],
  ['messageFormat', '""', 'CORRUPT'],
  ['checksum', '"md5"', 'CORRUPT'],
  ['salt', '"1234567"', 'CORRUPT'],
] as const)('a header of which %s is %s gives %s', async (field, value, code) => {
  const { root, storage } = await stored()
  const whole = await readLog(root, 's')
  const end = whole.indexOf(10)
  const text = whole.toString('utf8', 0, end).replace(/,"crc":"[0-9a-f]{8}"\}$/, '')
  const body = Buffer.from(text.replace(new RegExp(`"${field}":("[^"]*"|-?[0-9]+)`), `"${field}":${value}`))
  const header = Buffer.concat([body, Buffer.from(`,"crc":"${hex(crc32Of(body, viewOf(body), 0, body.length, 0))}"}`)])
  await writeFile(logPath(root, 's'), Buffer.concat([header, whole.subarray(end)]))
  const error = await refusal(() => storage.openReader('s'))
  expect(error).toMatchObject({ code, sessionId: 's' })
  expect(await refusal(() => storage.openWriter('s', { kind: 'resume' }))).toMatchObject({ code })
  const [entry] = await storage.list({ limit: 1 })
  expect(entry?.state).toBe(code === 'CORRUPT' ? 'damaged' : 'newer')
  expect((await storage.check('s')).problems).toMatchObject([{ code }])
  if (code === 'UNSUPPORTED_VERSION') {
    expect(error).toMatchObject({ expected: 1, found: Number(value) })
    expect(error.message).toMatch(new RegExp(`${value}.*1`))
    const repair = storage.repair?.('s', { dryRun: true })
    await expect(repair).rejects.toMatchObject({ code })
  }
})

// The largest one takes seconds and half a gigabyte: at scale 1 a smaller one must do.
const LARGE_BYTES = SCALE > 1 ? LIMITS.eventBytes : LIMITS.eventBytes / 16

it('a large event, all of it escaped, comes back', { timeout: 60_000 }, async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root, durability: 'process' })
  const text = '\u2028'.repeat(Math.floor((LARGE_BYTES - 200) / 3))
  const event = { seq: 0, time: 1, type: 'acme/note', data: { text } }
  await store(storage, 's', [[event], [{ ...event, seq: 1, data: null }]])
  const [first, second] = await readAll(storage, 's')
  // Not by toEqual: a difference of 64 MB is not worth printing.
  expect(first !== undefined && (first.data as { text: string }).text === text).toBe(true)
  expect(second).toEqual({ ...event, seq: 1, data: null })
  const back = await readAll(storage, 's', { reverse: true })
  expect(back.map(({ seq }) => seq)).toEqual([1, 0])
  const writer = await storage.openWriter('s', { kind: 'resume' })
  expect(writer.tail).toEqual({ nextSeq: 2, lastTime: 1 })
  await writer.close()
})
