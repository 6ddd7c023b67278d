// Proves that today's reader still reads every stored log of format version 1, and that today's writer still writes
// the same bytes. With SESSION_PERSISTENCE_WRITE_GOLDEN=1 it first stores the logs that are not stored yet.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AnySessionEvent } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { type GoldenDecode, goldenLogs } from './golden-logs.ts'
import { logPath } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/format-v1/', import.meta.url))
if (process.env.SESSION_PERSISTENCE_WRITE_GOLDEN === '1') await writeMissing()
const names = await readdir(FIXTURES)

/** Never replaces a file: what is stored is what an older program wrote. */
async function writeMissing(): Promise<void> {
  for (const { name, bytes, expected } of await goldenLogs()) {
    await mkdir(`${FIXTURES}${name}`, { recursive: true })
    await writeFile(`${FIXTURES}${name}/session.jsonl`, bytes, { flag: 'wx' }).catch(() => {})
    const text = `${JSON.stringify(expected, undefined, 1)}\n`
    await writeFile(`${FIXTURES}${name}/expected.json`, text, { flag: 'wx' }).catch(() => {})
  }
}

it('the writer gives the stored bytes', async () => {
  const logs = await goldenLogs()
  expect(logs.map(({ name }) => name).sort()).toEqual([...names].sort())
  for (const { name, bytes, expected } of logs) {
    expect([name, bytes.toString('latin1')]).toEqual([
      name,
      (await readFile(`${FIXTURES}${name}/session.jsonl`)).toString('latin1'),
    ])
    expect(JSON.parse(JSON.stringify(expected))).toEqual(
      JSON.parse(await readFile(`${FIXTURES}${name}/expected.json`, 'utf8')),
    )
  }
})

describe.each(names)('%s', (name) => {
  it('is read as it always was', async () => {
    const root = await temporaryDirectory()
    const expected = JSON.parse(await readFile(`${FIXTURES}${name}/expected.json`, 'utf8')) as GoldenDecode
    const { id } = expected.header
    await mkdir(dirname(logPath(root, id)))
    await writeFile(logPath(root, id), await readFile(`${FIXTURES}${name}/session.jsonl`))
    const storage = jsonlStorage({ root })
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
