// Proves that a file is recognised by its first bytes, and that what is no log is refused with a code and in words, in
// bounded time and memory.
import { execFileSync } from 'node:child_process'
import { mkdtemp, open, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { detectFormat, LogFile, readLogs } from '../src/index.ts'
import { CORPUS, corpusFiles, corpusName, hasCorpus } from './corpus/corpus-files.ts'
import { dshLog, useSourceFiles } from './source-files.ts'

/** Part of every POSIX system. */
const MKFIFO = 'mkfifo'

const file = useSourceFiles()
let directory = ''
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'interchange-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** One line of a conversation. Those of other programs have no `isSidechain`. */
const frame = (type: string, message: object): string =>
  `${JSON.stringify({
    parentUuid: null,
    ...('content' in message && { isSidechain: false }),
    uuid: `${type}-1`,
    sessionId: 's',
    timestamp: '2026-01-01T00:00:00Z',
    type,
    message,
  })}\n`

const first = (path: string): Promise<unknown> => readLogs(path).next()

describe('paths', () => {
  it('a path where nothing is: NOT_FOUND', async () => {
    await expect(first(join(directory, 'none.jsonl'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('a directory: INVALID_ARGUMENT', async () => {
    await expect(first(directory)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('a directory'),
    })
  })

  it('a FIFO: INVALID_ARGUMENT, without waiting for a writer', async () => {
    const path = join(directory, 'fifo')
    execFileSync(MKFIFO, [path])
    await expect(first(path)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('a FIFO'),
    })
  })

  it('a socket and a device: INVALID_ARGUMENT', async () => {
    const path = join(directory, 'socket')
    const server = createServer()
    await new Promise<void>((done) => server.listen(path, done))
    await expect(first(path)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await new Promise((done) => server.close(done))
    await expect(first('/dev/zero')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  it('a link to a log is read, a link to itself is not', async () => {
    const path = join(directory, 'link')
    await symlink(await file(dshLog()), path)
    await expect(first(path)).resolves.toMatchObject({ value: { header: { id: 'session-1' } } })
    const circle = join(directory, 'circle')
    await symlink(circle, circle)
    await expect(first(circle)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
  })
})

describe('content that is no log', () => {
  it.each([
    ['nothing', '', 'INVALID_ARGUMENT', 'empty'],
    ['text', 'Dear diary,\nnothing happened.\n', 'INVALID_ARGUMENT', 'text'],
    ['binary', Uint8Array.from({ length: 5000 }, (_, at) => (at * 7919) % 256), 'INVALID_ARGUMENT', 'binary'],
    ['gzip', Buffer.from('1f8b0800000000000003', 'hex'), 'INVALID_ARGUMENT', 'gzip'],
    ['Zstandard', Buffer.from('28b52ffd2400010000', 'hex'), 'INVALID_ARGUMENT', 'Zstandard'],
    ['a database', `SQLite format 3\0${'x'.repeat(100)}`, 'INVALID_ARGUMENT', 'SQLite'],
    ['JSON', '{\n  "a": [\n', 'NOT_SUPPORTED', 'JSON'],
    ['unknown records', '{"a":1}\n{"a":2}\n', 'NOT_SUPPORTED', 'not known'],
    [
      'a stored session',
      '{"format":"session-persistence","version":1,"id":"x","crc":"00000000"}\n',
      'NOT_SUPPORTED',
      '--root',
    ],
    [
      'a Pi log',
      '{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}\n',
      'NOT_SUPPORTED',
      'Pi',
    ],
    [
      'a Codex log',
      '{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{}}\n',
      'NOT_SUPPORTED',
      'Codex',
    ],
    [
      'messages of another API in the frame of Claude Code',
      `${frame('user', { role: 'user', parts: [{ text: 'hi' }] })}${frame('assistant', { role: 'model', parts: [] })}`,
      'NOT_SUPPORTED',
      'Qwen Code',
    ],
    [
      'the same, and a line of that program about itself',
      `{"uuid":"a","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00Z","type":"system","subtype":"x"}\n${frame('user', { role: 'user', parts: [] })}`,
      'NOT_SUPPORTED',
      'Qwen Code',
    ],
    [
      'the same, with a first line that is longer than what is looked at',
      frame('user', { role: 'user', parts: [{ text: 'x'.repeat(600_000) }] }),
      'NOT_SUPPORTED',
      'known',
    ],
    [
      'flat records with a session id and a time',
      '{"type":"system","subtype":"init","sessionId":"s","timestamp":1,"tools":[]}\n{"type":"message","sessionId":"s","timestamp":2,"role":"user","text":"hi"}\n{"type":"tool_call","sessionId":"s","timestamp":3,"toolName":"Read","parameters":{}}\n',
      'NOT_SUPPORTED',
      'Droid',
    ],
    [
      'records with a session id and a time, of nobody that is known',
      '{"type":"note","sessionId":"s","timestamp":"2026-01-01T00:00:00Z"}\n',
      'NOT_SUPPORTED',
      'not known',
    ],
    [
      'the output of Claude Code in a pipe',
      '{"type":"system","subtype":"init","session_id":"s"}\n{"type":"assistant","message":{"role":"assistant","content":[]},"session_id":"s"}\n',
      'NOT_SUPPORTED',
      '~/.claude/projects',
    ],
  ])('%s', async (_, content, code, words) => {
    await expect(first(await file(content))).rejects.toMatchObject({ code, message: expect.stringContaining(words) })
  })

  it('a gigabyte of zeros is refused by its first bytes', async () => {
    const path = join(directory, 'zeros')
    await using handle = await open(path, 'w')
    await handle.truncate(1024 * 1024 * 1024)
    const before = process.memoryUsage().rss
    await expect(first(path)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('NUL'),
    })
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024)
  })
})

describe('files that change', () => {
  it('CONFLICT when the file grows between two readings', async () => {
    const path = await file(dshLog())
    const { value: log } = await readLogs(path).next()
    await using handle = await open(path, 'a')
    await handle.write('\n')
    const events = log?.events[Symbol.asyncIterator]()
    await expect(events?.next()).rejects.toMatchObject({ code: 'CONFLICT', path })
  })
})

describe('transcripts of Claude Code', () => {
  it.each([
    ['a prompt', frame('user', { role: 'user', content: 'hi' })],
    ['an answer in blocks', frame('assistant', { role: 'assistant', content: [] })],
    ['a title and nothing else', '{"type":"summary","summary":"A title","leafUuid":"a"}\n'],
    ['a snapshot and nothing else', '{"type":"file-history-snapshot","messageId":"a","snapshot":{}}\n'],
    [
      'a queued prompt and nothing else',
      '{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T00:00:00Z","sessionId":"s"}\n',
    ],
    [
      'a line of progress and nothing else',
      '{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"progress","uuid":"a","timestamp":"2026-01-01T00:00:00Z"}\n',
    ],
    ['a prompt longer than what is looked at', frame('user', { role: 'user', content: 'x'.repeat(600_000) })],
    [
      'a conversation in which one message is of another form',
      `${frame('user', { role: 'user', parts: [] })}${frame('user', { role: 'user', content: 'hi' })}`,
    ],
  ])('%s', async (_, content) => {
    expect((await detectFormat(await LogFile.at(await file(content)))).name).toBe('claude-code')
  })
})

describe('heads', () => {
  it('recognises a log whose first line is longer than what is looked at', async () => {
    const path = await file(dshLog([], { extra: 'x'.repeat(600_000) }))
    expect((await detectFormat(await LogFile.at(path))).name).toBe('dsh')
  })
})

describe.skipIf(!hasCorpus)('real logs (skipped when the corpus is not beside the checkout)', () => {
  it('every one is recognised as what it is, or refused', async () => {
    const found = new Map<string, string[]>()
    for (const path of corpusFiles('.').filter((each) => !each.startsWith(join(CORPUS, 'other')))) {
      const folder = corpusName(path).split('/')[0] ?? ''
      const name = await detectFormat(await LogFile.at(path)).then(
        (reader) => reader.name,
        (error: { code: string }) => error.code,
      )
      found.set(folder, [...(found.get(folder) ?? []), name])
    }
    for (const folder of ['dsh', 'claude-code']) expect(new Set(found.get(folder))).toEqual(new Set([folder]))
    for (const path of corpusFiles('other')) {
      await expect(detectFormat(await LogFile.at(path)), path).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
    }
    for (const folder of ['codex', 'pi']) expect(new Set(found.get(folder))).toEqual(new Set(['NOT_SUPPORTED']))
  })
})
