// Proves that a canonical export gives back the log it was made of, byte for byte as documented, and that every cut and
// every changed byte of one is refused with the place.

import { crc32 } from 'node:zlib'
import {
  type AnySessionEvent,
  eventJson,
  isSessionError,
  openMemory,
  type SessionError,
} from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { importFile, readLogs, writeCanonical } from '../src/index.ts'
import { readOne, useSourceFiles } from './source-files.ts'

const file = useSourceFiles()

const HEADER = {
  version: 1,
  id: 'a-session',
  createdAt: 1000,
  messageFormat: 'plain',
  labels: { 'é\u2028': '\ud83d\ude00' },
}
const EVENTS: readonly AnySessionEvent[] = [
  { seq: 0, time: 1001, type: 'turn/start', data: { turn: 1 } },
  {
    seq: 1,
    time: 1000,
    type: 'user/message',
    data: { turn: 1, message: { role: 'user', content: 'a\ud800\u0000\u2028"\\' } },
  },
  { seq: 2, time: 1002, type: 'x/y', data: { b: 1, a: [1e308, 0.1, null] }, ignorable: true },
  {
    seq: 3,
    time: 1003,
    type: 'user/message',
    data: { turn: 1, message: 'short' },
    surface: { replace: [1, 1] },
    sources: [[0, 1]],
  },
]
async function* pages(events: readonly AnySessionEvent[]): AsyncGenerator<readonly AnySessionEvent[]> {
  yield events.slice(0, 1)
  yield events.slice(1)
}
async function exported(events: readonly AnySessionEvent[] = EVENTS): Promise<string> {
  let text = ''
  for await (const chunk of writeCanonical({ header: HEADER, events: pages(events) })) text += chunk
  return text
}
async function failure(content: string | Uint8Array): Promise<SessionError> {
  try {
    await readOne(await file(content))
  } catch (error) {
    if (isSessionError(error)) return error
    throw error
  }
  throw new Error('the export was accepted')
}

describe('an export', () => {
  it('is the header, the events as core writes them, and an end record', async () => {
    const text = await exported()
    const body = [
      '{"format":"session-persistence-export","version":1,"end":true,"header":{"version":1,"id":"a-session","createdAt":1000,"messageFormat":"plain","labels":{"é\u2028":"\ud83d\ude00"}}}',
      '{"seq":0,"time":1001,"type":"turn/start","data":{"turn":1}}',
      '{"seq":1,"time":1000,"type":"user/message","data":{"turn":1,"message":{"role":"user","content":"a\\ud800\\u0000\u2028\\"\\\\"}}}',
      '{"seq":2,"time":1002,"type":"x/y","data":{"b":1,"a":[1e+308,0.1,null]},"ignorable":true}',
      '{"seq":3,"time":1003,"type":"user/message","data":{"turn":1,"message":"short"},"surface":{"replace":[1,1]},"sources":[[0,1]]}',
      '',
    ].join('\n')
    const hex = (of: string): string => crc32(of).toString(16).padStart(8, '0')
    const end = `{"end":{"events":4,"bytes":${Buffer.byteLength(body)},"crc":"${hex(body)}","head":{"seq":3,"crc":"${hex(body.split('\n')[4] ?? '')}"}}}\n`
    expect(text).toBe(body + end)
  })

  it('gives back equal header and events', async () => {
    const { header, events, report } = await readOne(await file(await exported()))
    expect(header).toEqual(HEADER)
    expect(events.map(eventJson)).toEqual(EVENTS.map(eventJson))
    expect(report).toMatchObject({ format: 'canonical', events: 4, lines: 6, damagedCount: 0 })
  })

  it('holds a log without events', async () => {
    const text = await exported([])
    expect(text).toContain('{"end":{"events":0,')
    expect((await readOne(await file(text))).events).toEqual([])
  })

  it('may be made by hand, without the end record and its promise', async () => {
    const text = (await exported()).replace('"end":true,', '').split('\n').slice(0, 3).join('\n')
    expect((await readOne(await file(`${text}\n`))).events).toHaveLength(2)
  })
})

describe('a damaged export', () => {
  it('is refused at every cut', async () => {
    const bytes = Buffer.from(await exported())
    for (let cut = 1; cut < bytes.length; cut++) {
      const error = await failure(bytes.subarray(0, cut))
      // Too little is left to tell what it was.
      if (cut < 41) expect(['INVALID_ARGUMENT', 'NOT_SUPPORTED', 'CORRUPT']).toContain(error.code)
      else expect(error).toMatchObject({ code: 'CORRUPT', offset: expect.any(Number) })
    }
  })

  it('is refused with any byte of it changed', async () => {
    const bytes = Buffer.from(await exported())
    // All of them where there is time, else every third: a file is written for each.
    const stride = Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? 1) >= 5 ? 1 : 3
    for (let at = 41; at < bytes.length; at += stride) {
      for (const bit of [0, 5]) {
        const changed = Buffer.from(bytes)
        changed[at] = (changed[at] ?? 0) ^ (1 << bit)
        const error = await failure(changed)
        expect(['CORRUPT', 'UNSUPPORTED_VERSION'], `byte ${at}, bit ${bit}`).toContain(error.code)
      }
    }
  })

  it.each([
    ['a line that is no JSON', (lines: string[]) => lines.toSpliced(2, 1, 'x'), 3],
    ['an event that is missing', (lines: string[]) => lines.toSpliced(2, 1), 3],
    ['an event twice', (lines: string[]) => lines.toSpliced(2, 0, lines[1] ?? ''), 3],
    [
      'an event with a key too many',
      (lines: string[]) => lines.toSpliced(1, 1, '{"seq":0,"time":1,"type":"a/b","data":1,"x":1}'),
      2,
    ],
    ['something behind the end', (lines: string[]) => [...lines, '{}'], 7],
    ['a blank line', (lines: string[]) => lines.toSpliced(1, 0, ''), 2],
    ['no end record', (lines: string[]) => lines.slice(0, -1), 6],
    [
      'a header with a key too many',
      (lines: string[]) => lines.toSpliced(0, 1, (lines[0] ?? '').replace('"id"', '"x":1,"id"')),
      1,
    ],
    ['an id that is none', (lines: string[]) => lines.toSpliced(0, 1, (lines[0] ?? '').replace('a-session', '')), 1],
    ['a depth of 100,000', (lines: string[]) => lines.toSpliced(1, 1, `{"seq":0,"data":${'['.repeat(1e5)}`), 2],
  ])('%s: CORRUPT with line and offset', async (_, change, number) => {
    const lines = change((await exported()).trimEnd().split('\n'))
    const error = await failure(`${lines.join('\n')}\n`)
    const offset = Buffer.byteLength(
      lines
        .slice(0, number - 1)
        .map((line) => `${line}\n`)
        .join(''),
    )
    expect(error).toMatchObject({ code: 'CORRUPT', offset })
    expect(error.message).toContain(`line ${number}, offset ${offset}`)
  })

  it.each([
    ['of the frame', '"version":1,"end"', '"version":2,"end"'],
    ['of the events', '{"version":1', '{"version":99'],
  ])('a newer version %s is UNSUPPORTED_VERSION with both numbers', async (_, from, to) => {
    const error = await failure((await exported()).replace(from, to))
    expect(error).toMatchObject({ code: 'UNSUPPORTED_VERSION', expected: 1, found: Number(/\d+/.exec(to)?.[0]) })
  })

  it('leaves nothing in the store', async () => {
    await using persistence = await openMemory()
    const path = await file((await exported()).replace('"short"', '"other"'))
    await expect(importFile(persistence, path)).rejects.toMatchObject({ code: 'CORRUPT' })
    expect((await persistence.list()).sessions).toEqual([])
  })

  it('names no content', async () => {
    const error = await failure((await exported()).replace('"content":', '"content" secret:'))
    expect(error.message).not.toContain('secret')
  })
})

describe('reading', () => {
  it('rejects with the reason of an abort', async () => {
    const path = await file(await exported())
    const controller = new AbortController()
    controller.abort(new Error('stop'))
    await expect(readLogs(path, { signal: controller.signal }).next()).rejects.toThrow('stop')
  })
})

describe('what a source knows of its end', () => {
  const knownHead = { seq: 7, crc: '0a1b2c3d' }

  async function exportedWithKnown(): Promise<string> {
    let text = ''
    for await (const chunk of writeCanonical({ header: HEADER, events: pages(EVENTS), knownHead })) text += chunk
    return text
  }

  it('travels in the end record, and is kept beside the copy', async () => {
    const text = await exportedWithKnown()
    expect(JSON.parse(text.trimEnd().split('\n').at(-1) ?? '').end.known).toEqual(knownHead)
    const path = await file(text)
    const persistence = await openMemory()
    await importFile(persistence, path)
    expect((await persistence.inspect(HEADER.id)).recovery.missing).toEqual({ from: EVENTS.length, to: 7 })
  })

  it('is absent from the export of a whole log', async () => {
    expect(await exported()).not.toContain('"known"')
  })

  it('is refused under a damaged name', async () => {
    const damaged = (await exportedWithKnown()).replace('"known"', '"knowm"')
    expect(await failure(damaged)).toMatchObject({ code: 'CORRUPT' })
  })

  it.each(['"7"', '-2', '7.5'])('is refused with %s for a seq', async (seq) => {
    const damaged = (await exportedWithKnown()).replace('"known":{"seq":7', `"known":{"seq":${seq}`)
    expect(await failure(damaged)).toMatchObject({ code: 'CORRUPT', message: expect.stringContaining('knows') })
  })
})
