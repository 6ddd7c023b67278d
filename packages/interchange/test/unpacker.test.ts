// Proves that a compressed log gives the same sessions as the plain one through an unpacker of the caller's, and that
// what cannot be unpacked is refused, with its path, before a session comes out.
import { gunzipSync, gzipSync } from 'node:zlib'
import { isSessionError, SessionError } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { type ImportedLog, readLogs, type Unpacker } from '../src/index.ts'
import { useSourceFiles } from './source-files.ts'

const source = useSourceFiles()

const gzip: Unpacker = {
  detect: (head) => head.readUInt16BE(0) === 0x1f8b,
  async *unpack(bytes) {
    const parts: Uint8Array[] = []
    for await (const part of bytes) parts.push(part)
    try {
      yield gunzipSync(Buffer.concat(parts))
    } catch (cause) {
      throw new SessionError('CORRUPT', 'the data are cut', { cause })
    }
  },
}

/** More than one chunk of it. */
function dshLog(): string {
  const records: object[] = [{ type: 'session', version: 1, id: 'compressed', createdAt: 1_700_000_000_000 }]
  for (let seq = 0; seq < 3000; seq++) {
    const data = { message: { role: 'user', content: `${seq}: ${'word '.repeat(20)}` } }
    records.push({ type: 'user/message', seq, time: 1_700_000_000_000 + seq, data })
  }
  return records.map((record) => `${JSON.stringify(record)}\n`).join('')
}

async function everything(path: string): Promise<unknown> {
  const logs: unknown[] = []
  for await (const { header, events: pages, report } of readLogs(path, { unpackers: [gzip] })) {
    const events: unknown[] = []
    for await (const page of pages) events.push(...page)
    logs.push({ header, report, events })
  }
  return logs
}

const first = async (path: string): Promise<ImportedLog | undefined> => {
  for await (const log of readLogs(path, { unpackers: [gzip] })) return log
  return undefined
}

describe('an unpacker', () => {
  it('gives the sessions of the plain file: same ids, events and report', async () => {
    const plain = await everything(await source(dshLog()))
    expect(plain).toMatchObject([{ header: { id: 'compressed' }, report: { format: 'dsh', records: 3001 } }])
    expect(await everything(await source(gzipSync(dshLog())))).toEqual(plain)
  })

  it('that fails is a typed error with the path, and no session', async () => {
    const path = await source(gzipSync(dshLog()).subarray(0, 5000))
    const error = await first(path).catch((caught: unknown) => caught)
    expect(isSessionError(error, 'CORRUPT')).toBe(true)
    expect(error).toMatchObject({ path, message: expect.stringContaining('the data are cut') })
  })

  it('is not there: then the file is refused with what it is', async () => {
    const path = await source(gzipSync(dshLog()))
    await expect(readLogs(path).next()).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('gzip data'),
    })
  })

  it('does not help with transcripts, which are read out of order', async () => {
    const record = {
      type: 'user',
      uuid: 'u1',
      parentUuid: null,
      sessionId: 's1',
      timestamp: '2026-01-31T12:00:00.000Z',
    }
    const line = JSON.stringify({ ...record, message: { role: 'user', content: 'Hello' } })
    await expect(first(await source(`${line}\n`))).resolves.toMatchObject({ header: { origin: 'import:claude-code' } })
    await expect(first(await source(gzipSync(`${line}\n`)))).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
  })
})
