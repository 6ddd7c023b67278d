// Proves that today's reader still reads every stored log of format version 1, and that today's writer still writes
// the same, but for how a newer library compresses it. With SESSION_PERSISTENCE_WRITE_GOLDEN=1 it first stores the logs
// that are not stored yet.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AnySessionEvent } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import type { GoldenDecode } from '../../jsonl/test/golden-logs.ts'
import { temporaryDirectory } from '../../jsonl/test/parts/temporary-directory.ts'
import { decodeZstdFrames, jsonlZstdStorage } from '../src/index.ts'
import { goldenLogs } from './golden-logs.ts'
import { logPath, unitsOf } from './parts/frame-log.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/format-v1/', import.meta.url))
const LOG = 'session.jsonl.zst'
if (process.env.SESSION_PERSISTENCE_WRITE_GOLDEN === '1') await writeMissing()
const names = await readdir(FIXTURES)

/** Never replaces a file: what is stored is what an older program wrote. */
async function writeMissing(): Promise<void> {
  for (const { name, bytes, expected } of await goldenLogs()) {
    await mkdir(`${FIXTURES}${name}`, { recursive: true })
    await writeFile(`${FIXTURES}${name}/${LOG}`, bytes, { flag: 'wx' }).catch(() => {})
    const text = `${JSON.stringify(expected, undefined, 1)}\n`
    await writeFile(`${FIXTURES}${name}/expected.json`, text, { flag: 'wx' }).catch(() => {})
  }
}

async function textOf(bytes: Buffer): Promise<string> {
  const parts: Buffer[] = []
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    yield bytes
  }
  for await (const part of decodeZstdFrames(chunks())) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

it('the writer gives the stored lines in the stored units', async () => {
  const logs = await goldenLogs()
  expect(logs.map(({ name }) => name).sort()).toEqual([...names].sort())
  for (const { name, bytes, expected } of logs) {
    const stored = await readFile(`${FIXTURES}${name}/${LOG}`)
    // Where a torn batch starts, and how long it is, depends on how it was compressed.
    const decode = JSON.parse(await readFile(`${FIXTURES}${name}/expected.json`, 'utf8')) as GoldenDecode
    const { header: storedHeader, events } = decode
    expect(JSON.parse(JSON.stringify([expected.header, expected.events]))).toEqual([storedHeader, events])
    expect([expected.torn === undefined, expected.corrupt?.seq]).toEqual([
      decode.torn === undefined,
      decode.corrupt?.seq,
    ])
    if (name !== 'clean' && name !== 'sealed') continue
    expect(await textOf(bytes)).toBe(await textOf(stored))
    expect(unitsOf(bytes)).toHaveLength(unitsOf(stored).length)
    // No library compresses the header.
    const header = unitsOf(stored)[0]?.end
    expect(bytes.subarray(0, header)).toEqual(stored.subarray(0, header))
  }
})

describe.each(names)('%s', (name) => {
  it('is read as it always was', async () => {
    const root = await temporaryDirectory()
    const expected = JSON.parse(await readFile(`${FIXTURES}${name}/expected.json`, 'utf8')) as GoldenDecode
    const { id } = expected.header
    await mkdir(dirname(logPath(root, id)))
    await writeFile(logPath(root, id), await readFile(`${FIXTURES}${name}/${LOG}`))
    const storage = jsonlZstdStorage({ root })
    const reader = await storage.openReader(id)
    expect(reader.header).toEqual(expected.header)
    expect(reader.tail.torn).toEqual(expected.torn)
    const events: AnySessionEvent[] = []
    const reading = (async () => {
      for await (const page of reader.read({})) events.push(...(page as AnySessionEvent[]))
    })()
    if (expected.corrupt === undefined) await reading
    else await expect(reading).rejects.toMatchObject({ code: 'CORRUPT', ...expected.corrupt })
    await reader.close()
    expect(events).toEqual(expected.events)
    const { problems, torn } = await storage.check(id)
    expect(torn).toEqual(expected.torn)
    expect(problems).toMatchObject(expected.corrupt === undefined ? [] : [expected.corrupt])
  })
})
